/// When a ``CachingProvider`` answers from its cache.
public enum CachePolicy: Hashable, Sendable {
    /// The service is asked each time, with the ETag of what the cache has; what is unchanged does not travel again
    /// (RFC 9110, 13.1.2).
    case validate
    /// As ``validate``; where the service cannot be reached or is out of order, the cache answers.
    case validateElseCached
    /// What came within this time is not asked for again; for the rest, as ``validateElseCached``.
    case cached(for: Duration)
    /// The service is never asked; what the cache does not have is an error with status 504.
    case onlyCached
}
