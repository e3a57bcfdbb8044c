package fault

import (
	"bytes"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// byHand takes the connection of an HTTP/1 exchange over, for an answer that net/http would not send so. It has to be given
// the headers before. The connection cannot go back to net/http: the answer says that it will be closed.
func byHand(w http.ResponseWriter, code int) net.Conn {
	w.Header().Set("Connection", "close")
	if w.Header().Get("Date") == "" {
		w.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	scribe(w).Sends(code)
	return takeOver(w)
}

// head writes a status line and headers down, values as they stand.
func head(code int, header http.Header) []byte {
	var b bytes.Buffer
	b.WriteString("HTTP/1.1 " + strconv.Itoa(code) + " " + http.StatusText(code) + "\r\n")
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] { // Header.Write would trim it
			b.WriteString(name + ": " + value + "\r\n")
		}
	}
	b.WriteString("\r\n")
	return b.Bytes()
}
