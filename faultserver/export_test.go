package faultserver

import "github.com/gorilla/mux"

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
