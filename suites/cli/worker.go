package cli

import (
	"fmt"
	"slices"

	"github.com/retrygate/retrygate/faultserver/registry"
	"github.com/retrygate/retrygate/suites/driver"
)

// worker is the --worker flag: for whom a command reads a line for each call. "" means that it reads none.
type worker string

const (
	eachWorker   = "each"   // a process for each client
	sharedWorker = "shared" // one for all clients of a run
)

var workerNames = []string{eachWorker, sharedWorker}

func (w *worker) String() string { return string(*w) }
func (*worker) Type() string     { return "HOW" }

func (w *worker) Set(text string) error {
	if !slices.Contains(workerNames, text) {
		return fmt.Errorf("want each or shared%s", registry.Suggest(text, workerNames))
	}
	*w = worker(text)
	return nil
}

// client is the command as it is to be run.
func (w worker) client(argv []string) driver.Client {
	switch w {
	case eachWorker:
		return driver.CommandWorker(argv...)
	case sharedWorker:
		return driver.CommandShared(argv...)
	default:
		return driver.Command(argv...)
	}
}
