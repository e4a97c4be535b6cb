DataParallel=None
