import ODataQuery
import ODataService

extension ODataRequest {
    /// Whether `If-None-Match` names what would be sent: the client has it already (OData Protocol 4.01, 8.2.5).
    func alreadyHas(_ etag: String) -> Bool {
        guard let text = ifNoneMatch, let known = try? EntityTags(parsing: text),
            case .list(let tags)? = try? EntityTags(parsing: etag), let tag = tags.first
        else { return false }
        return known.contains(tag)
    }
}

/// `If-Match` and `If-None-Match` as they come (OData Protocol 4.01, 8.2.4 and 8.2.5).
enum Conditions {
    /// The tags of a field as one list.
    ///
    /// What is no list of entity tags is the tag of nothing: a request that depends on it is not processed, and one
    /// that is not to happen for it, happens.
    ///
    /// - Returns: `nil` where there is no such field.
    static func tags(_ values: [String]) -> String? {
        values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// Whether a resource with an entity tag may be read under `If-Match`.
    static func allowRead(_ condition: String?, of etag: String) -> Bool {
        guard let condition else { return true }
        guard let wanted = try? EntityTags(parsing: condition), case .list(let tags)? = try? EntityTags(parsing: etag),
            let tag = tags.first
        else { return false }
        return wanted.contains(tag)
    }
}
