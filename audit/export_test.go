package audit

// MaxOffered is how many entries of Offer may wait.
const MaxOffered = maxOffered
