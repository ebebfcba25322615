/// The links that led to the pages of a collection so far, so that pages which lead in a circle have an end.
///
/// Of each link eight bytes are kept.
package struct FollowedLinks: Sendable {
    private var hashes: Set<Int> = []

    /// Begins a read.
    package init() {}

    /// Notes that a read follows a link to its next page; the last page has none.
    ///
    /// - Throws: ``ODataError`` with status 502 where it was followed before: the pages would never end.
    package mutating func follow(_ link: String?) throws(ODataError) {
        guard let link, !hashes.insert(link.hashValue).inserted else { return }
        throw ODataError(
            status: 502, code: "UnexpectedAnswer", message: "The link to the next page leads back to an earlier one.")
    }
}
