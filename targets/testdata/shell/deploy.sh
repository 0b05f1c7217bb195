#!/usr/bin/env bash
#
# Ship it
set -e
