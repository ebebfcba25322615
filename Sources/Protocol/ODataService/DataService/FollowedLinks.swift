/// The links that a paged read has followed, to detect pages that lead in a circle.
///
/// Eight bytes are kept for each link.
package struct FollowedLinks: Sendable {
    /// The maximum number of consecutive pages without rows: 1,000.
    package static let maxEmptyPages = 1000

    private var hashes: Set<Int> = []
    private var emptyPages = 0

    /// Creates the state of a read before its first link.
    package init() {}

    /// Records the link to the next page.
    ///
    /// - Parameters:
    ///   - link: the link; `nil` on the last page.
    ///   - rows: the number of rows on the page with the link; `nil` to skip the check for empty pages.
    /// - Throws: ``ODataError`` with status 502 if the link was followed before or too many consecutive pages had
    ///   no rows.
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
