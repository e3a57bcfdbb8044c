package fault

import (
	"bufio"
	"net"
	"net/http"
)

// wrapped is what the writers that change an answer have in common.
type wrapped struct {
	http.ResponseWriter
	taken bool // the connection was taken over: another fault broke it, and no answer is left to change
}

// Unwrap gives http.ResponseController the way to what the writer does not do itself.
func (w *wrapped) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Hijack notes that the connection is gone.
func (w *wrapped) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	w.taken = err == nil
	return conn, rw, err
}
