package Loaded; use strict; sub loaded { 1 } loaded(); 1;
