package assert

// fact is what is known about a range of statuses whatever a contract says. Behaviours are in the profiles.
type fact struct {
	from, to  int
	name      string
	processed bool   // the server may have acted on the request
	why       string // why the default is what it is, for the contract's table
	source    string
}

// facts is sorted by width: the first row that holds a status describes it best.
var facts = []fact{
	{400, 400, "Bad Request", false, "the request itself is wrong; sending it again cannot help", "RFC 9110 15.5.1"},
	{401, 401, "Unauthorized", false, "other credentials may help; the same ones cannot", "RFC 9110 15.5.2"},
	{403, 403, "Forbidden", false, "the server understood and refuses", "RFC 9110 15.5.4"},
	{404, 404, "Not Found", false, "nothing is there", "RFC 9110 15.5.5"},
	{407, 407, "Proxy Authentication Required", false, "other credentials for the proxy may help", "RFC 9110 15.5.8"},
	{408, 408, "Request Timeout", true, "the request did not arrive in time; it may be sent again on another connection", "RFC 9110 15.5.9"},
	{409, 409, "Conflict", false, "someone has to resolve the conflict; only a keyed request in progress clears by itself", "RFC 9110 15.5.10; Idempotency-Key draft"},
	{410, 410, "Gone", false, "gone for good: also stop later requests to it", "RFC 9110 15.5.11"},
	{413, 413, "Content Too Large", false, "temporary only if the server names a time", "RFC 9110 15.5.14"},
	{421, 421, "Misdirected Request", false, "another connection may reach the right server", "RFC 9110 15.5.20"},
	{422, 422, "Unprocessable Content", false, "the content is wrong; sending it again cannot help", "RFC 9110 15.5.21"},
	{423, 423, "Locked", false, "someone holds a lock; wait only if told how long", "RFC 4918 11.3"},
	{424, 424, "Failed Dependency", false, "another request of the batch has to succeed first", "RFC 4918 11.4"},
	{425, 425, "Too Early", false, "send it again after the handshake, not as early data", "RFC 8470 5.2"},
	{429, 429, "Too Many Requests", false, "the client is too fast; the whole client should slow down", "RFC 6585 4"},
	{431, 431, "Request Header Fields Too Large", false, "it has to become smaller first", "RFC 6585 5"},
	{451, 451, "Unavailable For Legal Reasons", false, "a law forbids it", "RFC 7725 3"},
	{499, 499, "Client Closed Request", false, "the caller gave up (nginx, not registered)", "nginx"},
	{500, 500, "Internal Server Error", true, "unexpected, perhaps passing; it may have been processed", "RFC 9110 15.6.1"},
	{501, 501, "Not Implemented", false, "the server cannot do it", "RFC 9110 15.6.2"},
	{502, 502, "Bad Gateway", true, "a server behind the gateway failed", "RFC 9110 15.6.3"},
	{503, 503, "Service Unavailable", true, "overloaded or down for a while", "RFC 9110 15.6.4"},
	{504, 504, "Gateway Timeout", true, "a server behind the gateway was too slow; it may have been processed", "RFC 9110 15.6.5"},
	{505, 505, "HTTP Version Not Supported", false, "the server cannot do it", "RFC 9110 15.6.6"},
	{506, 506, "Variant Also Negotiates", false, "the server is misconfigured", "RFC 2295 8.1"},
	{507, 507, "Insufficient Storage", true, "needs a new action of the user", "RFC 4918 11.5"},
	{508, 508, "Loop Detected", true, "the server would loop again", "RFC 5842 7.2"},
	{509, 509, "Bandwidth Limit Exceeded", false, "a quota is used up (not registered)", "unregistered"},
	{510, 510, "Not Extended", false, "the request has to change first", "RFC 2774 7"},
	{511, 511, "Network Authentication Required", false, "someone has to log in to the network", "RFC 6585 6"},
	{520, 520, "Unknown Error", true, "the origin answered nonsense (Cloudflare, not registered)", "Cloudflare"},
	{521, 523, "Origin Unreachable", false, "the origin was not reached (Cloudflare, not registered)", "Cloudflare"},
	{524, 524, "Origin Timeout", true, "the origin was too slow and has likely processed it (Cloudflare, not registered)", "Cloudflare"},
	{525, 525, "TLS Handshake Failed", false, "the origin's handshake failed (Cloudflare, not registered)", "Cloudflare"},
	{526, 526, "Invalid Certificate", false, "the origin's certificate is invalid (Cloudflare, not registered)", "Cloudflare"},
	{300, 399, "redirects", false, "followed, not retried", "RFC 9110 15.4"},
	{400, 499, "other client errors", false, "the request has to change first; an unknown 4xx counts as 400", "RFC 9110 15.5"},
	{500, 599, "other server errors", true, "an unknown 5xx counts as 500", "RFC 9110 15.6"},
}

var unknownFact = fact{name: "unknown"}

// factOf finds the row that describes a status best.
func factOf(status int) *fact {
	for i := range facts {
		if status >= facts[i].from && status <= facts[i].to {
			return &facts[i]
		}
	}
	return &unknownFact
}
