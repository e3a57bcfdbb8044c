package contract_test

import (
	"cmp"
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/retrygate/retrygate/scenarios"
	"github.com/retrygate/retrygate/suites/clients"
	"github.com/retrygate/retrygate/suites/contract"
	"github.com/retrygate/retrygate/suites/driver"
)

// underTest names the reference client that this binary's suite judges, so that a test can run the suite on another one.
const underTest = "RETRYGATE_TEST_CLIENT"

var _ = func() bool {
	c, err := clients.All.Get(cmp.Or(os.Getenv(underTest), "polite-get"))
	if err != nil {
		panic(err)
	}
	return contract.Specs("the client "+c.Name, driver.HTTPWorker(c.Name, c.New),
		contract.In(named("sustained-400", "fail-then-succeed", "429-retry-after-seconds")...))
}()

// The same in virtual time, where hours take milliseconds: the specs of the README.
var suite *testing.T

var _ = contract.Specs("in virtual time", driver.HTTPFunc("patient", func(ctx context.Context, h *http.Client, url string) error {
	c, err := clients.All.Get("polite-get")
	if err != nil {
		return err
	}
	return c.Call(ctx, h, url)
}), contract.In(named("503-burst", "429-retry-after-date", "flapping", "hang")...), contract.VirtualTime(func(run func()) {
	synctest.Test(suite, func(*testing.T) { run() })
}))

func named(names ...string) (list []scenarios.Scenario) {
	for _, name := range names {
		s, err := scenarios.Get(name)
		if err != nil {
			panic(err)
		}
		list = append(list, s)
	}
	return list
}

func TestContract(t *testing.T) {
	suite = t
	RegisterFailHandler(Fail)
	RunSpecs(t, "retry contract")
}

// TestSpecsSayWhatHappened runs the suite above once more, on a client that breaks the contract.
func TestSpecsSayWhatHappened(t *testing.T) {
	if os.Getenv(underTest) != "" {
		t.Skip("this is the suite on another client")
	}
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestContract$", "-ginkgo.v", "-ginkgo.no-color", "-ginkgo.junit-report=")
	cmd.Env = append(os.Environ(), underTest+"=retries-4xx")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Errorf("the suite passed on a client that retries 4xx")
	}
	for _, want := range []string{
		"[FAIL] the client retries-4xx sustained-400 [It] keeps no-retry-4xx",
		"after a 400; the contract says never",      // the sentence
		"GET /    400     status",                   // the witness
		"not-exercised: ",                           // so is what never arose
		"fail-then-succeed keeps retries-transient", // a kept clause is a spec of its own
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}

func TestSpecsPanicOnAnUnknownClause(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(p.(string), "did you mean retry-cap?") {
			t.Errorf("panic: %v", p)
		}
	}()
	s := named("sustained-400")[0]
	s.Judges = []string{"retry-cup"}
	contract.Specs("typo", driver.Command("true"), contract.In(s))
}
