import ODataQuery
import ODataService

extension ODataRequest {
    /// Returns whether `If-None-Match` contains the tag, so that the client already has the representation (OData
    /// Protocol 4.01, 8.2.5).
    func alreadyHas(_ etag: String) -> Bool {
        guard let text = ifNoneMatch, let known = try? EntityTags(parsing: text),
            case .list(let tags)? = try? EntityTags(parsing: etag), let tag = tags.first
        else { return false }
        return known.contains(tag)
    }
}

/// The fields `If-Match` and `If-None-Match` (OData Protocol 4.01, 8.2.4 and 8.2.5).
enum Conditions {
    /// Joins the values of a field into one list.
    ///
    /// A text that is not a list of entity tags matches no resource: `If-Match` then always fails, and
    /// `If-None-Match` always holds.
    ///
    /// - Returns: `nil` if there is no such field.
    static func tags(_ values: [String]) -> String? {
        values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Returns whether `If-Match` allows reading a resource with an entity tag.
    static func allowRead(_ condition: String?, of etag: String) -> Bool {
        guard let condition else { return true }
        guard let wanted = try? EntityTags(parsing: condition), case .list(let tags)? = try? EntityTags(parsing: etag),
            let tag = tags.first
        else { return false }
        return wanted.contains(tag)
    }
}
