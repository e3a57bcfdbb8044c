package accesslog

import (
	"bytes"
	"math"
	"strconv"
	"time"
)

const (
	earliest = 0            // 1970, in seconds
	latest   = 253402300799 // the end of 9999; later is no time that a log was written at
	farthest = 1 << 33      // seconds that fit nanoseconds in 64 bits, with room to add durations: 2242
)

// clfTime reads "10/Oct/2000:13:55:36 -0700", with or without a fraction behind the seconds.
func clfTime(s []byte) (ns int64, exact time.Duration, ok bool) {
	if len(s) < 20 || s[2] != '/' || s[6] != '/' || s[11] != ':' || s[14] != ':' || s[17] != ':' {
		return 0, 0, false
	}
	day, ok1 := digits(s[0:2])
	month := monthOf(s[3:6])
	year, ok2 := digits(s[7:11])
	hour, ok3 := digits(s[12:14])
	minute, ok4 := digits(s[15:17])
	second, ok5 := digits(s[18:20])
	if !(ok1 && ok2 && ok3 && ok4 && ok5) || month == 0 {
		return 0, 0, false
	}
	return finish(civil{year, month, day, hour, minute, second}, s[20:])
}

// isoTime reads RFC 3339 and its kin: "2024-01-02T03:04:05.678Z", with a blank for the T, "," for the ".", any offset or
// none (UTC).
func isoTime(s []byte) (ns int64, exact time.Duration, ok bool) {
	if len(s) < 19 || s[4] != '-' || s[7] != '-' || (s[10] != 'T' && s[10] != ' ' && s[10] != 't') || s[13] != ':' || s[16] != ':' {
		return 0, 0, false
	}
	year, ok1 := digits(s[0:4])
	month, ok2 := digits(s[5:7])
	day, ok3 := digits(s[8:10])
	hour, ok4 := digits(s[11:13])
	minute, ok5 := digits(s[14:16])
	second, ok6 := digits(s[17:19])
	if !(ok1 && ok2 && ok3 && ok4 && ok5 && ok6) {
		return 0, 0, false
	}
	return finish(civil{year, month, day, hour, minute, second}, s[19:])
}

type civil struct{ year, month, day, hour, minute, second int }

// finish adds the fraction and the offset that rest says.
func finish(c civil, rest []byte) (ns int64, exact time.Duration, ok bool) {
	if c.year < 1970 || c.year > 2200 || c.month < 1 || c.month > 12 || c.day < 1 || c.day > 31 || c.hour > 23 || c.minute > 59 || c.second > 60 {
		return 0, 0, false
	}
	exact = time.Second
	if len(rest) > 0 && (rest[0] == '.' || rest[0] == ',') {
		n := 1
		scale := int64(time.Second)
		for n < len(rest) && rest[n] >= '0' && rest[n] <= '9' {
			if scale > 1 {
				scale /= 10
				ns += int64(rest[n]-'0') * scale
			}
			n++
		}
		if n == 1 {
			return 0, 0, false
		}
		exact, rest = time.Duration(scale), rest[n:]
	}
	offset, ok := zone(bytes.TrimPrefix(rest, []byte(" ")))
	if !ok {
		return 0, 0, false
	}
	seconds := days(c.year, c.month, c.day)*86400 + int64(c.hour)*3600 + int64(c.minute)*60 + int64(c.second) - offset
	return seconds*int64(time.Second) + ns, exact, true
}

// zone reads an offset in seconds: "", "Z", "-0700", "+02:00".
func zone(s []byte) (int64, bool) {
	if len(s) == 0 || len(s) == 1 && (s[0] == 'Z' || s[0] == 'z') || string(s) == "UTC" || string(s) == "GMT" {
		return 0, true
	}
	if len(s) == 6 && s[3] == ':' {
		s = append(append(make([]byte, 0, 5), s[:3]...), s[4:]...)
	}
	if len(s) != 5 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	hours, ok1 := digits(s[1:3])
	minutes, ok2 := digits(s[3:5])
	offset := int64(hours)*3600 + int64(minutes)*60
	if s[0] == '-' {
		offset = -offset
	}
	return offset, ok1 && ok2 && hours < 24 && minutes < 60
}

// days counts from 1970-01-01 (Howard Hinnant, "chrono-compatible low-level date algorithms").
func days(y, m, d int) int64 {
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	yoe := y - era*400
	doy := (153*(m-3)+2)/5 + d - 1
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return int64(era)*146097 + int64(doe) - 719468
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

func monthOf(s []byte) int {
	if i := bytes.Index([]byte(months), s); i >= 0 && i%3 == 0 {
		return i/3 + 1
	}
	return 0
}

// epochTime reads seconds since 1970 with or without a fraction, or whole milliseconds, microseconds or nanoseconds.
func epochTime(s []byte) (ns int64, exact time.Duration, ok bool) {
	whole, fraction, _ := bytes.Cut(s, []byte("."))
	if len(whole) < 9 || len(whole) > 19 {
		return 0, 0, false
	}
	n, err := strconv.ParseInt(string(whole), 10, 64)
	if err != nil || n < earliest {
		return 0, 0, false
	}
	unit := time.Second
	switch {
	case len(whole) > 16:
		unit = time.Nanosecond
	case len(whole) > 13:
		unit = time.Microsecond
	case len(whole) > 11:
		unit = time.Millisecond
	}
	if unit == time.Second && n > min(latest, farthest) {
		return 0, 0, false
	}
	ns, exact = n*int64(unit), unit
	for _, c := range fraction {
		if c < '0' || c > '9' {
			return 0, 0, false
		}
		if exact >= 10 {
			exact /= 10
			ns += int64(c-'0') * int64(exact)
		}
	}
	if len(fraction) > 0 { // who writes numbers leaves zeros at the end out
		exact = min(exact, time.Millisecond)
	}
	return ns, exact, true
}

// seconds reads a duration in a unit, with or without a fraction; "-" and what is negative is not known.
func seconds(s []byte, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(string(s), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f*float64(unit) > float64(longest) {
		return 0, false
	}
	return time.Duration(math.Round(f * float64(unit))), true
}

// longest is the longest exchange that is believed.
const longest = 30 * 24 * time.Hour

// digits reads a number of a few digits.
func digits(s []byte) (n int, ok bool) {
	for _, c := range s {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, len(s) > 0 && len(s) <= 9
}

// status reads a status code; "-" and 0 are none.
func status(s []byte) (int, bool) {
	if len(s) == 1 && (s[0] == '-' || s[0] == '0') || string(s) == "000" || string(s) == "-1" {
		return 0, true
	}
	n, ok := digits(s)
	return n, ok && len(s) == 3 && n >= 100
}
