/**
 * Maximum bytes of JSON in one answer, since the engine drops a connection that sends a frame over 16 MiB.
 */
export const maxAnswerBytes = 16 * 1024 * 1024 - 64 * 1024;

/**
 * Maximum values, keys and punctuation marks together in a request that is parsed in slices. Valid requests
 * of the profile `agent` have fewer. Checking the fields of a larger object would take 50 ms.
 */
export const maxTokens = 150_000;

/**
 * Like `maxTokens`, for the profile `contract` on the bus. An answer to the entries of a larger request would
 * exceed `maxAnswerBytes`, and collecting the garbage of its values would take longer than 50 ms.
 */
export const maxContractTokens = 1_000_000;
