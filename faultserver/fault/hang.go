package fault

import (
	"net/http"
	"time"

	"github.com/retrygate/retrygate/faultserver/strict"
)

func init() {
	register(Kind{
		Name:    "hang",
		Summary: "reads the request and never answers, or gives an interim answer (100, 102, 103) and no other, until the client leaves or the server closes",
		Example: "{hang: {for: 30s, interim: 103}}",
		New:     func() Fault { return &Hang{} },
		Role:    Final,
	})
}

// Hang takes a request and lets it wait.
type Hang struct {
	For     time.Duration `yaml:"for" doc:"then the connection is closed; default: for as long as the client waits"`
	Interim int           `yaml:"interim" doc:"status of an answer that promises another: 100, 102, 103; default none"`
}

// Inject waits; next is not called.
func (h *Hang) Inject(w http.ResponseWriter, r *http.Request, _ http.Handler) {
	drain(r)
	if h.Interim != 0 {
		w.WriteHeader(h.Interim)
	}
	if h.For > 0 && wait(r.Context(), h.For) {
		hangUp(w)
		return
	}
	<-r.Context().Done()
	abort() // to return would send an empty 200
}

// Validate wants no negative time, and an answer that is not the last.
func (h *Hang) Validate(n strict.Node) {
	if _, ok := n.Field("for"); ok {
		strict.Above(n, "for", h.For, 0)
	}
	if _, ok := n.Field("interim"); ok && (h.Interim < 100 || h.Interim > 199 || h.Interim == http.StatusSwitchingProtocols) {
		n.At("interim").Fail("interim: %d is no interim answer; want 100, 102, 103 or another 1xx, except 101", h.Interim)
	}
}
