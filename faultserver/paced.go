package faultserver

import "net/http"

// paced passes an answer on at its own pace, through a fault. It flushes by itself, because ReverseProxy would do it from
// another goroutine, where a fault must neither sleep nor panic.
type paced struct{ http.ResponseWriter }

// Unwrap gives http.ResponseController the way to what paced does not do itself.
func (p *paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

// WriteHeader sends the head at once: the body may be long in coming.
func (p *paced) WriteHeader(status int) {
	p.ResponseWriter.WriteHeader(status)
	if status >= 200 {
		p.flush()
	}
}

// Write sends what came.
func (p *paced) Write(b []byte) (int, error) {
	n, err := p.ResponseWriter.Write(b)
	p.flush()
	return n, err
}

// Flush is for ReverseProxy, and does nothing.
func (p *paced) Flush() {}

// flush ignores errors: a writer that cannot flush sends at its end.
func (p *paced) flush() { _ = http.NewResponseController(p.ResponseWriter).Flush() }
