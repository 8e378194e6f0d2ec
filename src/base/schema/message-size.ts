/**
 * Maximum bytes of JSON in one answer, since the engine drops a connection that sends a frame over 16 MiB.
 */
export const maxAnswerBytes = 16 * 1024 * 1024 - 64 * 1024;
