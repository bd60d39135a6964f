package main

import (
	"context"
	"fmt"

	"github.com/cadastre/cadastre/test/bench/stat"
	"github.com/cadastre/cadastre/test/bench/storebench"
)

// fleetCase is a fleet (a large number of stored objects) and the measurements that are made with it.
type fleetCase struct {
	storebench.Fleet
	name string // the number of objects and, unless it is the default, their size
	list bool   // whether the objects are listed after the store was opened
}

// largeFactor multiplies -objects if -large is set.
const largeFactor = 10

func fleetCases(o options) []fleetCase {
	cases := []fleetCase{newFleetCase(o.objects, storebench.ValueSize)}
	cases[0].list = true
	if o.large {
		cases = append(cases, newFleetCase(o.objects*largeFactor, storebench.ValueSize), newFleetCase(o.objects*largeFactor, smallObject))
	}
	return cases
}

// smallObject is an object size in bytes at which the memory overhead per object dominates.
const smallObject = 500

func newFleetCase(objects, size int) fleetCase {
	c := fleetCase{Fleet: storebench.Fleet{Objects: objects, Size: size}, name: fmt.Sprint(objects)}
	if size != storebench.ValueSize {
		c.name += fmt.Sprintf("/%dB", size)
	}
	return c
}

func (c fleetCase) openName() string { return "cache/open/" + c.name }
func (c fleetCase) listName() string { return "cache/list/" + c.name }

// compareFleets fills a data folder for each fleet with a selected case, and measures the selected cases.
func compareFleets(ctx context.Context, o options) ([]stat.Finding, error) {
	var all []stat.Finding
	for _, c := range fleetCases(o) {
		list := c.list && o.selected.MatchString(c.listName())
		open := o.selected.MatchString(c.openName())
		if !list && !open {
			continue
		}
		found, err := c.compare(ctx, o, list, open)
		if err != nil {
			return nil, fmt.Errorf("a fleet of %s: %w", c.name, err)
		}
		all = append(all, found...)
	}
	return all, nil
}

func (c fleetCase) compare(ctx context.Context, o options, list, open bool) (all []stat.Finding, err error) {
	var etcd []storebench.EtcdFleet
	if c.list {
		if etcd, err = c.measureEtcd(ctx, o); err != nil {
			return nil, err
		}
	}
	err = withTempFolder(o, func(folder string) error {
		if err := c.Fill(ctx, folder); err != nil {
			return err
		}
		if open {
			found, err := c.compareOpening(ctx, o, folder, etcd)
			if err != nil {
				return err
			}
			all = append(all, found...)
		}
		if list {
			found, err := c.compareListing(ctx, o, folder, etcd)
			all = append(all, found...)
			return err
		}
		return nil
	})
	return all, err
}

// measureEtcd measures etcd with the same objects.
func (c fleetCase) measureEtcd(ctx context.Context, o options) (rounds []storebench.EtcdFleet, err error) {
	err = withTempFolder(o, func(folder string) error {
		if err := c.FillEtcd(ctx, folder); err != nil {
			return err
		}
		for range o.rounds {
			r, err := c.UseEtcd(ctx, folder)
			if err != nil {
				return err
			}
			rounds = append(rounds, r)
		}
		return nil
	})
	return rounds, err
}
