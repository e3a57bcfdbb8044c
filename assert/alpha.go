package assert

// How chance is shared out. Judging one history by the whole contract accuses a client that keeps it in 1 of 10,000 cases at
// most: the first five add up to that. The others fail only if a second run shows the same (Kind.Late), so that they err by the
// square of their share; a history without a canary they never fail. What is not here leaves nothing to chance, but recovery-drain
// less than 1 in 1,000,000 where traffic was uneven before the outage.
const (
	spacingAlpha = 3e-5   // min-spacing
	growthAlpha  = 1.5e-5 // backoff-growth
	specialAlpha = 1e-5   // special-4xx
	sanityAlpha  = 5e-6   // retry-after-sanity
	hedgeAlpha   = 4e-5   // hedge-bounded

	// In each of two runs, where the contract takes a breach for major or worse.
	jitterAlpha = 1e-4 // each of jitter-present and jitter-range
	herdAlpha   = 1e-3 // herd-index
)

// SureAlpha is the chance above which a breach wants a second run to confirm it (see Result.Chance), because a run has many
// scenarios that judge the same clause.
const SureAlpha = 1e-6
