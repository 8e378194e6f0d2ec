/** Stands for the payload of a call that a transport refuses without reading it. */
export class UnreadPayload {
  /** The refusal that the call ends with. */
  readonly refusal: Error;

  constructor(refusal: Error) {
    this.refusal = refusal;
  }
}
