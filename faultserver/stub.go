package faultserver

import (
	"net/http"
	"strconv"
)

// Stub is the canned answer to every request that no fault answers. The zero value is 200 with a small JSON body.
type Stub struct {
	Status  int               `yaml:"status"` // default 200
	Headers map[string]string `yaml:"headers"`
	Body    string            `yaml:"body"` // default {"status":"ok"}
}

// canned is a Stub made ready to be sent.
type canned struct {
	status int
	header http.Header
	body   []byte
}

func newCanned(s Stub) *canned {
	c := &canned{status: s.Status, header: http.Header{}, body: []byte(s.Body)}
	if c.status == 0 {
		c.status = http.StatusOK
	}
	if s.Body == "" {
		c.body = []byte(`{"status":"ok"}` + "\n")
		c.header.Set("Content-Type", "application/json")
	} else {
		c.header.Set("Content-Type", http.DetectContentType(c.body))
	}
	for name, value := range s.Headers {
		c.header.Set(name, value)
	}
	if !bodyAllowed(c.status) {
		c.body = nil
		c.header.Del("Content-Type")
	} else {
		c.header.Set("Content-Length", strconv.Itoa(len(c.body)))
	}
	return c
}

func (c *canned) answer(x *recorder, w http.ResponseWriter, _ *http.Request) {
	if x.broken {
		http.Error(w, "retrygate: the request's body broke off", http.StatusBadRequest)
		return
	}
	if x.rule != nil {
		x.entry.Asked(c.status) // what became of it on the way to the client is another matter
	}
	header := w.Header()
	for name, values := range c.header {
		header[name] = values
	}
	w.WriteHeader(c.status)
	_, _ = w.Write(c.body)
}

func (c *canned) close() {}
