package fault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"time"
)

// byHand takes the connection of an HTTP/1 exchange over, for an answer that net/http would not send so. It wants the
// headers to be there. The connection cannot go back to net/http, so the answer says that it will be closed.
func byHand(w http.ResponseWriter, r *http.Request, code int) net.Conn {
	w.Header().Set("Connection", "close")
	if w.Header().Get("Date") == "" {
		w.Header().Set("Date", now(r.Context()).UTC().Format(http.TimeFormat))
	}
	scribe(w).Sends(code)
	return takeOver(w)
}

// head writes a status line and headers down, values as they stand.
func head(code int, header http.Header) []byte {
	var b bytes.Buffer
	text := http.StatusText(code)
	if text == "" {
		text = "status code " + strconv.Itoa(code) // as net/http has it
	}
	b.WriteString("HTTP/1.1 " + strconv.Itoa(code) + " " + text + "\r\n")
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] { // Header.Write would trim it
			b.WriteString(name + ": " + value + "\r\n")
		}
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// framed writes a body to a connection as the head has announced it.
type framed struct {
	net.Conn
	chunked bool
}

// Write sends one chunk, or bytes as they are.
func (f *framed) Write(p []byte) (int, error) {
	if !f.chunked || len(p) == 0 {
		return f.Conn.Write(p)
	}
	if _, err := f.Conn.Write(fmt.Appendf(nil, "%x\r\n%s\r\n", len(p), p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// end closes the connection, behind the last chunk if there is one.
func (f *framed) end() error {
	var err error
	if f.chunked {
		_, err = f.Conn.Write([]byte("0\r\n\r\n"))
	}
	return errors.Join(err, f.Close())
}

// attend watches a connection that was taken over, which net/http does not any more: the context ends when the client
// closes it. stop ends the watch.
func attend(ctx context.Context, conn net.Conn, left func()) (watched context.Context, stop func()) {
	watched, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		for b := make([]byte, 512); err == nil; {
			_, err = conn.Read(b) // whatever else the client asks for gets no answer
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			left()
		}
		cancel()
	}()
	return watched, func() {
		_ = conn.SetReadDeadline(time.Unix(1, 0))
		<-done
	}
}
