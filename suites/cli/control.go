package cli

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/retrygate/retrygate/faultserver"
	"github.com/retrygate/retrygate/scenarios"
)

// controlFlags are the settings of the control API, as given.
type controlFlags struct{ address, token string }

// tokenVariable is the environment's word for --control-token, which other users of the machine cannot read there.
const tokenVariable = "RETRYGATE_CONTROL_TOKEN"

// shortestToken is long enough that trying all is hopeless.
const shortestToken = 16

func (f *controlFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.address, "control", "", "let programs drive the server over HTTP at this `ADDRESS`: plan, scenarios, journal")
	flags.StringVar(&f.token, "control-token", "", "`TOKEN` that they must send, or $"+tokenVariable+" (default: none on loopback, else a random one)")
}

// control serves the control API until srv is closed, if one is asked for, and says where.
func (w *world) control(f serveFlags, srv *faultserver.Server, plan faultserver.Plan) (line string, err error) {
	token, made, err := w.token(f)
	if err != nil || f.control.address == "" {
		return "", err
	}
	c := faultserver.NewControl(srv, faultserver.WithToken(token), faultserver.WithPresets(presets(f.scenario, plan)))
	url, err := c.Listen(f.control.address)
	if err != nil {
		return "", listenError("--control", f.control.address, err)
	}
	line = fmt.Sprintf("retrygate is driven on %s, described in %s/v1/openapi.json\n", url, url)
	if made {
		line += "retrygate wants the token " + token + "\n"
	}
	return line, nil
}

// token gives what programs must send, "" if nothing; made says that it was made up.
func (w *world) token(f serveFlags) (token string, made bool, err error) {
	token = cmp.Or(f.control.token, w.getenv(tokenVariable))
	switch {
	case f.control.address == "" && f.control.token != "":
		return "", false, errors.New("serve: --control-token guards the control API; add --control ADDRESS")
	case f.control.address == "":
		return "", false, nil
	case token != "" && (len(token) < shortestToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })):
		return "", false, fmt.Errorf("serve: the control token must have %d or more letters, digits and signs, and no spaces", shortestToken)
	case token == "" && !loopback(f.control.address):
		return rand.Text(), true, nil
	}
	return token, false, nil
}

// loopback reports whether only this machine can reach an address.
func loopback(addr string) bool {
	at, err := net.ResolveTCPAddr("tcp", addr)
	return err == nil && at.IP.IsLoopback()
}

// presets are the scenarios that ship, with the one of a file in the place of any that has its name.
func presets(file string, plan faultserver.Plan) []faultserver.Preset {
	own := faultserver.Preset{Name: plan.Name, Summary: "the scenario of " + file, Plan: plan}
	var list []faultserver.Preset
	for _, s := range scenarios.All() {
		if s.Name == own.Name {
			own.Summary = s.Summary
			continue
		}
		list = append(list, faultserver.Preset{Name: s.Name, Summary: s.Summary, Plan: s.Plan()})
	}
	if own.Name != "" {
		list = append(list, own)
	}
	slices.SortFunc(list, func(a, b faultserver.Preset) int { return strings.Compare(a.Name, b.Name) })
	return list
}
