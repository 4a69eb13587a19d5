package Done; sub by_do { 5 } by_do();
