import GRDB
import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Actions that are called in place of creations, updates and deletions (``ChangeAction``).
extension Uploader {
    /// The call of the action that a request names; `nil` for a request without an action.
    ///
    /// - Throws: `ODataError` if the service's model has no such action any more. The request then goes to the archive.
    func callOfAction(for request: QueuedRequest) async throws -> ODataRequest? {
        guard let action = request.options.action, request.isOfRow, request.carriesPropertiesAlone else { return nil }
        var url: ODataURL
        switch action.binding {
        case .none: url = ODataURL()
        case .collection: url = try await address(of: request).url
        case .entity: url = try await self.url(of: request)
        }
        url.path.segments.append(.name(Identifier(action.urlName), .none))
        guard let bound = try? Binder(model: mapping.model).bind(url),
            case .operation(let operation) = bound.resource.target
        else { throw modelChanged(request) }
        let given = try CallParameters.values(action.arguments, of: operation, model: mapping.model)
        let parameters = try await database.read { [self] database in
            var values = given
            let attributes = try Attributes(of: request, outcomes, in: database)
            for parameter in operation.parameters {
                guard let path = action.mapping[parameter.name] else { continue }
                if let value = attributes[path] {
                    values[parameter.name] = value
                } else if !parameter.mayBeLeftOut {
                    values[parameter.name] = .null
                }
            }
            let keys = TemporaryKeys(mapping: mapping)
            return try values.mapValues { try keys.replaced($0, in: database) }
        }
        return ODataRequest(
            .create, url, body: .parameters(parameters),
            preferences: Preferences(returns: request.options.prefersNoContent ? .minimal : .representation),
            ifMatch: action.binding == .entity ? request.guardingETag : nil)
    }

    /// Whether a type is that of the entity set of a request, or derives from it.
    func isOfSet(_ type: QualifiedName, _ request: QueuedRequest) -> Bool {
        guard let base = mapping.model.shape(ofStored: request.entitySet)?.name else { return false }
        return mapping.model.isType(type, base)
    }

    /// The attributes of an entity as a request leaves it, without the changes that wait behind the request.
    private struct Attributes {
        /// The versions of the entity, the one that counts first.
        private let versions: [ODataEntity]

        init(of request: QueuedRequest, _ outcomes: UploadOutcomes, in database: Database) throws {
            var versions: [ODataEntity] = []
            // Keys that the service assigns are not sent, but those that it has assigned are.
            if request.kind != .create {
                versions.append(ODataEntity(shape: request.changes.shape, key: request.key))
            }
            let sent = request.changes.only(where: { !request.omitted.contains($0) || request.kind != .create })
            versions.append(sent)
            if request.kind != .create, let table = outcomes.mapping.tables[request.entitySet] {
                let image = try outcomes.before.image(
                    set: request.entitySet, rowID: request.rowID, shape: table.shape, in: database)
                versions += [image?.entity, request.base].compactMap { $0 }
                let row = try BulkLoader(set: table.set, mapping: outcomes.mapping, in: database).read(request.rowID)
                if let row { versions.append(row) }
            }
            self.versions = versions
        }

        /// The value at a path; `nil` if it is not known.
        subscript(path: String) -> ODataValue? {
            let names = path.split(separator: "/").map(String.init)
            return versions.lazy.compactMap { Self.value(names[...], in: $0) }.first
        }

        private static func value(_ names: ArraySlice<String>, in entity: ODataEntity) -> ODataValue? {
            guard let first = names.first, let value = entity[first] else { return nil }
            guard names.count > 1 else { return value }
            guard case .complex(let part) = value else { return .null }
            return Self.value(names.dropFirst(), in: part)
        }
    }
}
