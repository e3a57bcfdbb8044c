package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

const head = `{"journal":1,"lost":0,"until_ns":5000000000}` + "\n"

func full() Entry {
	return Entry{
		Seq: 8, At: 1, Took: math.MaxInt64, Gone: 3, Client: "c", Call: "id", Claim: math.MinInt32, Method: "POST",
		Path: "/a b\"<&>\u2028é", Query: "x=\xff\xfe", Key: "k\x00", Precondition: true, Closing: true, Auth: math.MaxUint64, BodySum: 1<<53 + 1,
		BodyLen: math.MaxInt64, BodyWhole: true, Early: true, Unprocessed: true, Conn: math.MaxUint64, Proto: "HTTP/1.1", TLS: true, Handshake: "h\xff", Status: 503,
		RetryAfter: "Thu, 01 Jan 2026 00:00:00 GMT", Cut: true, Open: true, Rule: "r\xf0", Fault: "status", Upstream: 200,
		Rare: allRare(),
	}
}

func allRare() *Rare {
	return &Rare{
		Sent{
			CallBy: "Webhook-Id", Trace: Trace{1, 15: 0xff}, Request: math.MaxUint64, Hop: math.MaxInt32, Proxied: true,
			Range: "bytes=5-\xff", EarlyData: true, Stamp: 1, Marks: "X-Request-Id=0000000000000001",
		},
		Told{Location: "//elsewhere/\xe9", Directive: DirectivePushback, RetryAfterMS: "1500", Date: "Sun, 06 Nov 1994 08:49:37 GMT\xe9"},
		math.MaxInt32,
	}
}

func TestFullSetsEveryField(t *testing.T) {
	for _, all := range []any{full(), allRare().Sent, allRare().Told} {
		v := reflect.ValueOf(all)
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("%s is not set, so that the round trip does not test it", v.Type().Field(i).Name)
			}
		}
	}
}

func TestRoundTripIsExact(t *testing.T) {
	for name, h := range map[string]History{
		"empty": {},
		"facts": {Lost: math.MaxUint64, Until: math.MaxInt64, Began: time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)},
		"full":  {Entries: []Entry{{Seq: 1}, full()}, Lost: 7, Until: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Write(&b, h); err != nil {
				t.Fatal(err)
			}
			got, err := Read(&b)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, h) {
				t.Errorf("got  %+v\nwant %+v", got, h)
			}
		})
	}
}

func TestLiveHistoryRoundTrips(t *testing.T) {
	j := New(2)
	for range 3 {
		exchange(j, traffic(1))
	}
	h := j.History()
	var b bytes.Buffer
	if err := Write(&b, h); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
	if err != nil || !reflect.DeepEqual(got, h) || h.Lost != 1 || h.Began.IsZero() {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, h)
	}
}

func TestLinesAreReadable(t *testing.T) {
	var b bytes.Buffer
	err := Write(&b, History{Until: 2 * time.Second, Entries: []Entry{
		{Seq: 1, At: time.Second, Took: 5, Client: "client-1", Method: "GET", Path: "/a&b", BodySum: 255, Status: 503},
	}})
	want := `{"journal":1,"lost":0,"until_ns":2000000000,"entries":1}
{"seq":1,"at_ns":1000000000,"took_ns":5,"client":"client-1","method":"GET","path":"/a&b","body_sum":"00000000000000ff","status":503}
`
	if err != nil || b.String() != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, b.String(), want)
	}
}

func TestReadNamesLineAndFault(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", `line 1: empty; a journal begins with a header like`},
		{"blank", "\n \n", `line 2: empty; a journal begins with a header like`},
		{"not a journal", "hello\n", `line 1: not a journal`},
		{"entry first", `{"seq":1,"at_ns":0}` + "\n", `line 1: not a journal`},
		{"other version", `{"journal":2,"new":1}` + "\n", `line 1: version 2 of the format; this program reads version 1`},
		{"header field", `{"journal":1,"until":3}` + "\n", `line 1: unknown field "until"`},
		{"negative until", `{"journal":1,"until_ns":-3}` + "\n", `line 1: until_ns is -3`},
		{"negative lost", `{"journal":1,"lost":-3}` + "\n", `line 1: lost: a number -3 does not fit; want uint64`},
		{"absurd header", long, `line 1: longer than 1048576 bytes`},
		{"absurd line", head + `{"seq":1,"path":"` + long + `"}`, `line 2: longer than 1048576 bytes`},
		{"not JSON", head + "{seq:1}\n", `line 2: not JSON at column 2`},
		{"not JSON later", head + "{\"seq\":1}\n{\"seq\":2}\n{seq:1}\n", `line 4: not JSON at column 2`},
		{"no object", head + "{\"seq\":1}\n5\n", `line 3: a number is no entry; want a JSON object`},
		{"two objects later", head + "{\"seq\":1}\n{\"seq\":2} {\"seq\":3}\n", `line 3: more after the end of the object, at column 10`},
		{"half an object", head + "{\"seq\":1\n{\"seq\":2}\n", `line 2: not a whole JSON object`},
		{"two objects", head + "{\"seq\":1} {\"seq\":2}\n", `line 2: more after the end of the object, at column 10`},
		{"unknown field", head + "\n{\"seq\":1,\"statsu\":3}\n", `line 3: unknown field "statsu"`},
		{"wrong type", head + "{\"seq\":1,\"status\":\"ok\"}\n", `line 2: status: a string does not fit; want int`},
		{"fraction", head + "{\"seq\":1,\"at_ns\":1.5}\n", `line 2: at_ns: a number 1.5 does not fit; want int64`},
		{"bad hash", head + "{\"seq\":1,\"auth\":\"xyz\"}\n", `line 2: "xyz" is not a hash of up to 16 hex digits`},
		{"bad trace", head + "{\"seq\":1,\"trace\":\"4bf9\"}\n", `line 2: "4bf9" is not a trace id of 32 hex digits`},
		{"long trace", head + "{\"seq\":1,\"trace\":\"4bf92f3577b34da6a3ce929d0e0e47364b\"}\n", `line 2: "4bf92f3577b34da6a3ce929d0e0e47364b" is not a trace id`},
		{"unknown directive", head + "{\"seq\":1,\"directive\":\"maybe\"}\n", `line 2: directive is "maybe"; want yes, no or pushback`},
		{"negative hop", head + "{\"seq\":1,\"hop\":-1}\n", `line 2: hop is -1`},
		{"unknown raw", head + "{\"seq\":1,\"raw\":{\"status\":\"AA==\"}}\n", `line 2: raw: there is no text field "status"`},
		{"no seq", head + "{\"at_ns\":1}\n", `line 2: seq is 0 after 0; it must rise from 1`},
		{"disorder", head + "{\"seq\":2}\n{\"seq\":2}\n", `line 3: seq is 2 after 2`},
		{"back in time", head + "{\"seq\":1,\"at_ns\":5}\n{\"seq\":2,\"at_ns\":4}\n", `line 3: at_ns is 4 after 5`},
		{"negative time", head + "{\"seq\":1,\"at_ns\":-5}\n", `line 2: at_ns is -5`},
		{"negative took", head + "{\"seq\":1,\"took_ns\":-5}\n", `line 2: took_ns is -5`},
		{"negative gone", head + "{\"seq\":1,\"gone_ns\":-5}\n", `line 2: gone_ns is -5`},
		{"negative body", head + "{\"seq\":1,\"body_len\":-5}\n", `line 2: body_len is -5`},
		{"gone before it came", head + "{\"seq\":1,\"at_ns\":9,\"gone_ns\":5}\n", `line 2: gone_ns is 5, before at_ns 9; no client leaves before it came`},
		{"status of one digit", head + "{\"seq\":1,\"status\":7}\n", `line 2: status is 7; want 100 to 999, or none`},
		{"upstream's of two", head + "{\"seq\":1,\"upstream\":99}\n", `line 2: upstream is 99; want 100 to 999, or none`},
		{"an arrival after the end", "{\"journal\":1,\"until_ns\":5}\n{\"seq\":1,\"at_ns\":9}\n", `line 2: arrived at 9, after the header's until_ns of 5`},
		{"status", head + "{\"seq\":1,\"status\":1000}\n", `line 2: status is 1000`},
		{"upstream", head + "{\"seq\":1,\"upstream\":-1}\n", `line 2: upstream is -1`},
		{"too many", `{"journal":1,"entries":0}` + "\n{\"seq\":1}\n", `line 2: the header announces 0 entries, but there are 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := Read(strings.NewReader(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), "journal: "+c.want) {
				t.Errorf("got  %v\nwant journal: %s", err, c.want)
			}
			if h.Entries != nil {
				t.Errorf("a refused journal gave %d entries", len(h.Entries))
			}
		})
	}
}

func TestMissingEndIsSaidAndTheRestIsKept(t *testing.T) {
	for _, c := range []struct {
		name, text, want string
		entries          int
	}{
		{"in a line", head + "{\"seq\":1}\n{\"seq\":2,\"pa", `line 3: the end of the journal is missing: this line is cut off after 12 bytes`, 1},
		{"in the header", `{"journal":1,"lost`, `line 1: not a journal`, 0},
		{"between lines", `{"journal":1,"entries":2}` + "\n{\"seq\":1}\n", `line 2: the end of the journal is missing: 1 of 2 entries are there`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := Read(strings.NewReader(c.text))
			if err == nil || !strings.HasPrefix(err.Error(), "journal: "+c.want) {
				t.Errorf("got  %v\nwant journal: %s", err, c.want)
			}
			if len(h.Entries) != c.entries || errors.Is(err, ErrTruncated) != (c.entries > 0) {
				t.Errorf("%d entries, truncated: %v", len(h.Entries), errors.Is(err, ErrTruncated))
			}
		})
	}
}

func TestLastLineNeedsNoNewline(t *testing.T) {
	h, err := Read(strings.NewReader(head + `{"seq":1}`))
	if err != nil || len(h.Entries) != 1 || h.Until != 5*time.Second {
		t.Errorf("%+v, %v", h, err)
	}
}

// TestLongestEntryFitsALine holds the reader's limit against the worst that a journal can keep.
func TestLongestEntryFitsALine(t *testing.T) {
	j := New(1)
	worst := strings.Repeat("\x01", 2*maxText) // six bytes of JSON each
	x := j.Arrive(Arrival{
		Client: worst, Call: worst, Method: worst, Path: worst, Query: worst, Key: worst, Proto: worst,
		Sent: Sent{CallBy: worst, Range: worst, Marks: worst},
	})
	x.Acted(worst, worst)
	x.Told(Told{Location: worst, RetryAfterMS: worst})
	x.Answered(503, worst)
	h := j.History()
	var b bytes.Buffer
	if err := Write(&b, h); err != nil {
		t.Fatal(err)
	}
	got, err := Read(&b)
	if err != nil || !reflect.DeepEqual(got, h) {
		t.Errorf("the longest entry does not come back: %v", err)
	}
}

func TestErrorsOfReaderAndWriterComeThrough(t *testing.T) {
	broken := errors.New("disk on fire")
	if _, err := Read(io.MultiReader(strings.NewReader(head), errReader{broken})); !errors.Is(err, broken) {
		t.Errorf("read: %v", err)
	}
	if err := Write(errWriter{broken}, History{}); !errors.Is(err, broken) {
		t.Errorf("write: %v", err)
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

type errWriter struct{ err error }

func (w errWriter) Write([]byte) (int, error) { return 0, w.err }

func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	if err := Write(&b, History{Entries: []Entry{{Seq: 1}, full()}, Lost: 7, Until: 9, Began: time.Unix(1, 2).UTC()}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(head + `{"seq":1,"at_ns":5,"raw":{"path":"/w=="}}`))
	f.Add([]byte(`{"journal":1,"began":"2026-01-02T03:04:05+02:00"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, h); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := Read(bytes.NewReader(b.Bytes()))
		if err != nil || !reflect.DeepEqual(again, h) {
			t.Fatalf("%v\ngot  %+v\nwant %+v\n%s", err, again, h, b.Bytes())
		}
	})
}

func BenchmarkWriteRead(b *testing.B) {
	const entries = 10_000
	j := New(0)
	for i := range entries {
		exchange(j, traffic(i))
	}
	h := j.History()
	for b.Loop() {
		var buffer bytes.Buffer
		if err := Write(&buffer, h); err != nil {
			b.Fatal(err)
		}
		if _, err := Read(&buffer); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/entries, "ns/entry")
}

func ExampleWrite() {
	h := History{Until: time.Second, Entries: []Entry{{Seq: 1, At: time.Millisecond, Method: "GET", Path: "/", Status: 200}}}
	var b strings.Builder
	if err := Write(&b, h); err != nil {
		fmt.Println(err)
	}
	fmt.Print(b.String())
	// Output:
	// {"journal":1,"lost":0,"until_ns":1000000000,"entries":1}
	// {"seq":1,"at_ns":1000000,"method":"GET","path":"/","status":200}
}

func TestLiveHistoryWithItsEndIsWhole(t *testing.T) {
	for _, c := range []struct {
		name         string
		counted      uint64
		after, fault string
	}{
		{"whole", 2, "", ""},
		{"miscounted", 3, "", "line 4: the end counts 3 entries, but there are 2"},
		{"continued", 2, `{"seq":9}`, "line 5: more after the end of the history"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			err := WriteLive(&b, History{})
			for _, e := range []Entry{{Seq: 2, At: 5, Took: 1}, {Seq: 1, At: 3, Took: 9, Open: true}} {
				err = errors.Join(err, WriteEntry(&b, e))
			}
			if err := errors.Join(err, WriteEnd(&b, c.counted, 0, 99)); err != nil {
				t.Fatal(err)
			}
			b.WriteString(c.after)
			h, err := Read(&b)
			switch {
			case c.fault != "":
				if err == nil || err.Error() != "journal: "+c.fault {
					t.Errorf("got %v, want %s", err, c.fault)
				}
			case err != nil || h.Lost != 0 || h.Until != 99 || len(h.Entries) != 2 || !h.Entries[0].Open || h.Entries[1].Seq != 2:
				t.Errorf("%+v, %v", h, err)
			}
		})
	}
}

func TestLiveEntriesComeAsTheyEndAndAreReadInOrder(t *testing.T) {
	live := func(entries ...Entry) string {
		var b bytes.Buffer
		err := WriteLive(&b, History{Until: 4, Began: time.Unix(1, 2).UTC()})
		for _, e := range entries {
			err = errors.Join(err, WriteEntry(&b, e))
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	first, second := Entry{Seq: 3, At: 5, Took: 90, Path: "/<a>"}, Entry{Seq: 7, At: 6, Took: 1}
	for _, c := range []struct{ name, text, want string }{
		{"as they ended", live(second, first), ""},
		{"killed", live(second, first) + `{"seq":8`, "line 4: the end of the journal is missing"},
		{"twice", live(second, second), "line 3: seq 7 stands there twice"},
		{"no seq", live(Entry{}), "line 2: seq is 0 after 0"},
		{"back in time", live(second, Entry{Seq: 9, At: 2}), "line 3: at_ns of seq 9 is 2, after 6 of seq 7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := Read(strings.NewReader(c.text))
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "journal: "+c.want)) {
				t.Fatalf("got %v, want %s", err, c.want)
			}
			want := History{Entries: []Entry{first, second}, Lost: 1, Until: 95, Began: time.Unix(1, 2).UTC()}
			if (err == nil || errors.Is(err, ErrTruncated)) && !reflect.DeepEqual(h, want) {
				t.Errorf("got  %+v\nwant %+v", h, want)
			}
		})
	}
}

func TestReadSkipsAByteOrderMark(t *testing.T) {
	h, err := Read(strings.NewReader("\ufeff" + head + "{\"seq\":1,\"status\":503}\n"))
	if err != nil || len(h.Entries) != 1 || h.Entries[0].Status != 503 {
		t.Errorf("%+v, %v", h, err)
	}
}
