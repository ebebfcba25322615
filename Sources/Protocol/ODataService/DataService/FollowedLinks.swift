/// The links that led to the pages of a collection so far, so that pages which lead in a circle have an end.
///
/// Of each link eight bytes are kept.
package struct FollowedLinks: Sendable {
    /// The most pages without rows that may follow one another: 1,000.
    package static let maxEmptyPages = 1000

    private var hashes: Set<Int> = []
    private var emptyPages = 0

    /// Begins a read.
    package init() {}

    /// Notes that a read follows a link to its next page; the last page has none.
    ///
    /// - Parameters:
    ///   - link: the link, of which there is none behind the last page.
    ///   - rows: how many rows the page has that the link stands on, if that is of interest.
    /// - Throws: ``ODataError`` with status 502 if it was followed before, or if too many pages without rows came one after
    ///   the other: the pages would never end.
    package mutating func follow(_ link: String?, behind rows: Int? = nil) throws(ODataError) {
        emptyPages = rows == 0 ? emptyPages + 1 : 0
        guard link == nil || emptyPages <= Self.maxEmptyPages else {
            throw ODataError(
                status: 502, code: "EndlessAnswer",
                message: "\(emptyPages) pages without rows came one after the other, and a link to a next one.")
        }
        guard let link, !hashes.insert(link.hashValue).inserted else { return }
        throw ODataError(
            status: 502, code: "UnexpectedAnswer", message: "The link to the next page leads back to an earlier one.")
    }
}
