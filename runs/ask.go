package runs

// Ask is what a verb that changes something wants to know of the call that asks for it.
type Ask struct {
	Owner  string // the caller's token; empty for a local caller
	Once   *Once  // the same key and hash get the first answer; another hash is IDEMPOTENCY_CONFLICT
	CallID string // of the call's record
	Tool   string
}
