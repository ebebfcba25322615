import ODataModel
import ODataService

/// The representation that a client can expect of a row that it has changed.
extension RowWriter {
    /// Whether a client that gets no body can reasonably know the new representation of an entity: only then does a response
    /// without content carry its ETag (OData Protocol 4.01, 9.1.4).
    ///
    /// - Parameters:
    ///   - after: the entity as it is stored.
    ///   - given: the entity in the request.
    ///   - before: the entity before an update, if the client has named its ETag.
    ///   - resets: whether properties that the request leaves out get their default.
    ///   - plan: the plan of its set.
    func isForeseeable(_ after: ODataEntity, given: ODataEntity, before: ODataEntity?, resets: Bool, plan: WritePlan)
        -> Bool
    {
        let shape = after.shape
        var known = Set(shape.key.map(\.path))
        // The ETag tells the values that it is made of.
        known.formUnion(rules.etagProperties[plan.storage.set] ?? [])
        for navigation in given.related.keys.compactMap(shape.navigationProperty) {
            known.formUnion(navigation.constraints.map(\.property))
        }
        return shape.properties.enumerated().allSatisfy { ordinal, property in
            guard let value = after.values[ordinal], property.type.primitive != .stream, !known.contains(property.name)
            else { return true }
            if before?.shape == shape, before?.values[ordinal] == value { return true }
            if given[property.name] != nil { return !property.isComputed }
            return resets && (value.isNull || value == Self.defaultValue(of: property))
        }
    }

    /// Whether a request names the ETag of the entity that it changes, so that the client knows that entity.
    package static func namesETag(_ request: ODataRequest) -> Bool {
        request.ifMatch.map { !$0.allSatisfy { $0 == "*" || $0 == " " } } ?? false
    }

    private static func defaultValue(of property: Property) -> ODataValue? {
        guard let text = property.defaultValue, let type = property.type.primitive else { return nil }
        return try? ODataValue(lexical: text, type: type)
    }
}
