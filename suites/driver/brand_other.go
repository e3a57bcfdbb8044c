//go:build !linux

package driver

// brand is nothing where limits of another process can neither be set nor read.
type brand struct{}

func newBrand(uint64) brand { return brand{} }

func (p *process) launch() error { return p.cmd.Start() }

// born is of no use where processes cannot be listed.
func born(int) uint64 { return 0 }

// anyRuns is never asked: processes cannot be listed.
func anyRuns([]int) bool { return false }
