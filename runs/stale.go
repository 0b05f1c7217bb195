package runs

import "slices"

// A run that is sent back, by force or because an artifact was changed, walks on from there
// in the order of its workflow. What it comes to is executed anew, apart from a node with
// [Node.Reuse] whose last visit still stands: its inputs are what they were, and nothing
// that it comes after was executed since. Such a visit is entered and left again, at most
// once for each time that the run is sent back, so no loop can live on it.

// sendBack makes what has finished until now available to the walk that begins at a node.
func (v *View) sendBack(to string, anew []string) {
	v.Reuse = map[string]int{}
	for name, visit := range v.Visits {
		if name != to && !slices.Contains(anew, name) && v.finished(name, visit) {
			v.Reuse[name] = visit
		}
	}
}

// next returns the visit with which the run goes on to a node.
func (v *View) next(node Node) int {
	if visit, ok := v.Reuse[node.Name]; ok && node.Reuse && v.stands(node, visit) {
		return visit
	}
	return v.Visits[node.Name] + 1
}

// finished reports whether the visit has work items and all are finished.
func (v *View) finished(node string, visit int) bool {
	items := v.items(node, visit)
	return len(items) > 0 && !slices.ContainsFunc(items, func(w *WorkItem) bool { return w.Status != Finished })
}

// stands reports whether executing the node again would be the same work as its visit.
func (v *View) stands(node Node, visit int) bool {
	first := slices.IndexFunc(v.WorkItems, func(w WorkItem) bool { return w.Node == node.Name && w.Visit == visit })
	for _, w := range v.WorkItems[first:] {
		if slices.Contains(node.After, w.Node) {
			return false
		}
	}
	var scopes []string
	for _, w := range v.items(node.Name, visit) {
		scopes = append(scopes, w.Scope)
		for _, name := range node.Inputs {
			if w.Inputs[name] != v.Artifacts[name].SHA256 {
				return false
			}
		}
	}
	return node.FanOut == "" || slices.Equal(scopes, v.FanOut[node.FanOut])
}

// stale returns the nodes, in the order of the workflow, that have to be executed anew
// because artifacts are no longer what they read, or because one that they wrote is gone.
// What the node that is under way has written does not count: it is going to write it.
func (v *View) stale(changed []Artifact) (out []string) {
	under, _ := v.Created.Workflow.Node(v.unfinished())
	for _, node := range v.Created.Workflow.Nodes {
		if !v.finished(node.Name, v.Visits[node.Name]) {
			continue
		}
		for _, a := range changed {
			was, known := v.Artifacts[a.Name]
			if !known || under.wrote(was.Artifact) {
				continue
			}
			gone := a.SHA256 == ""
			if gone && node.wrote(was.Artifact) || !gone && v.hasRead(node, was.Artifact) {
				out = append(out, node.Name)
				break
			}
		}
	}
	return out
}

// hasRead reports whether the last visit of a node was made from the artifact as it is in
// the index.
func (v *View) hasRead(node Node, a Artifact) bool {
	if slices.Contains(node.Inputs, a.Name) {
		return slices.ContainsFunc(v.items(node.Name, v.Visits[node.Name]), func(w *WorkItem) bool { return w.Inputs[a.Name] == a.SHA256 })
	}
	return slices.ContainsFunc(node.After, func(name string) bool {
		before, _ := v.Created.Workflow.Node(name)
		return before.Worker == a.Writer && !slices.Contains(before.Outputs, a.Name)
	})
}

// wrote reports whether the artifact is one of the node's.
func (n Node) wrote(a Artifact) bool {
	return slices.Contains(n.Outputs, a.Name) || n.Worker != "" && n.Worker == a.Writer
}

// unfinished returns the node whose work is under way or was interrupted, if there is one.
func (v *View) unfinished() string {
	switch {
	case v.Jump != "":
		return v.Jump
	case v.Paused == nil && v.Node != "" && !v.finished(v.Node, v.visitOf(v.Node)):
		return v.Node
	}
	return ""
}

// first returns that of the nodes which comes first in the workflow.
func (w Workflow) first(names []string) string {
	i := slices.IndexFunc(w.Nodes, func(n Node) bool { return slices.Contains(names, n.Name) })
	if i < 0 {
		return ""
	}
	return w.Nodes[i].Name
}
