import ODataQuery

/// A URL as it was read, and resolved. One object for all requests with the same text: what is in it takes longer to copy
/// than to find.
final class ResolvedURL: Sendable {
    /// The URL as it was read; with a reference to another request of a batch, that request's path stands in its place.
    let url: ODataURL
    /// What its names stand for.
    let bound: BoundURL
    /// Whether it is the entity of an id (`$entity?$id=…`), which leads elsewhere where the service is seen under another root.
    let isByID: Bool

    init(url: ODataURL, bound: BoundURL, isByID: Bool = false) {
        self.url = url
        self.bound = bound
        self.isByID = isByID
    }
}
