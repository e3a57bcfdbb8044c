package faultserver

import (
	"net"

	"github.com/gorilla/mux"
)

// Routes lists what the router of a control API answers, as "METHOD path".
func (c *Control) Routes() (all []string) {
	_ = c.router.Walk(func(route *mux.Route, _ *mux.Router, _ []*mux.Route) error {
		path, _ := route.GetPathTemplate()
		methods, _ := route.GetMethods()
		for _, method := range methods {
			all = append(all, method+" "+path)
		}
		return nil
	})
	return all
}

// Frames makes what follows a connection that speaks HTTP/2, and names the field that it puts in.
func Frames(conn net.Conn) (f *frames, field string) {
	s := New()
	return newFrames(&wire{Conn: conn, over: &acceptor{server: s}, here: &connection{}}), s.streamField.sent
}

// What tests do with it.
func (f *frames) Read(p []byte) (int, error)  { return f.read(p) }
func (f *frames) Write(p []byte) (int, error) { return f.write(p) }
func (f *frames) Mark(id, code uint32)        { f.opens(id); f.mark(id, code) }
func (f *frames) Open(id uint32)              { f.opens(id) }
func (f *frames) Begin(id uint32) (away bool) { return f.begin(id) != nil }
func (f *frames) GoAway(id uint32, all bool) (refuse bool) {
	return f.goAway(id, all, 0, "", nil, "a fault")
}

// Held counts what it keeps in memory.
func (f *frames) Held() int {
	return cap(f.in.buffer) + cap(f.in.extra) + cap(f.in.whole) + len(f.open)
}
