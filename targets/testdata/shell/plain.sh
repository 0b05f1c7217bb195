#!/bin/bash
echo plain
