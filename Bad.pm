package Bad; sub boom { die qq(boom\n) } boom(); 1;
