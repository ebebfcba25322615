/// The conditions under which a ``CachingProvider`` answers from its cache.
///
/// ```swift
/// let cached = DataService(CachingProvider(client, cache: cache, policy: .cached(for: .seconds(60))))
/// let orders = try await cached.entities("Orders")
/// ```
public enum CachePolicy: Hashable, Sendable {
    /// Each request is sent to the service with the ETag of the cached entity. An unchanged entity is not
    /// transferred again (RFC 9110, 13.1.2).
    case validate
    /// Like ``validate``, but the cache answers if the service is unreachable or fails.
    case validateElseCached
    /// Content that was received within this time is returned from the cache. Other requests behave like
    /// ``validateElseCached``.
    case cached(for: Duration)
    /// The service is never asked. Missing content is an error with status 504.
    case onlyCached
}
