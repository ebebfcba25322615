import ODataModel
import ODataQuery
import ODataSQL
import ODataService

/// Refers by content id to entities that earlier requests of a change set create (OData Protocol 4.01, 11.7.3.1
/// *Referencing New Entities*).
struct ChangeSetReferences {
    /// A request that creates an entity.
    struct Created {
        let id: String
        let request: QueuedRequest
        /// Whether the key is final: the app assigned every part, and no part refers to an entity created in the
        /// same change set.
        let isKeyKnown: Bool

        /// - Parameter message: the request for the service, with its references to other entities resolved.
        init(id: String, request: QueuedRequest, message: ODataRequest) {
            self.id = id
            self.request = request
            guard case .entity(let entity) = message.body else {
                isKeyKnown = false
                return
            }
            isKeyKnown = entity.shape.key.allSatisfy { entity[$0.path] != nil }
        }

        /// Whether another request is about the entity that this request creates.
        func isOfRow(of other: QueuedRequest) -> Bool {
            request.entitySet == other.entitySet && request.rowID == other.rowID && other.isOfRow
        }
    }

    /// The place at which a request refers to an entity created in the same change set.
    enum Mention {
        /// At the beginning of its URL, which every service understands, or nowhere.
        case inPath
        /// In its body.
        case inBody
        /// In the options of its URL or in a header field. A content id is not allowed there, so the request must
        /// be sent after the creation.
        case apart
    }

    let mapping: StorageMapping
    let created: [Created]

    /// Replaces temporary keys with content ids: in the URL of a request for the entity itself, in the navigation
    /// path or reference of a creation that refers to the entity, and at both ends of a relation.
    ///
    /// - Returns: the place of such a key.
    func resolve(_ message: inout ODataRequest, _ request: QueuedRequest) -> Mention {
        // Not every service lets requests refer to an entity that an action creates.
        let needsResult = created.contains { creation in
            creation.request.options.action != nil
                && (request.dependsOn.contains(creation.request.id) || creation.isOfRow(of: request))
        }
        if needsResult { return .apart }
        let mention = resolveKeys(in: &message, request)
        let named = HeaderPlaceholders.entities(in: request.options.headers, model: mapping.model)
        let isInHeader = created.contains { creation in
            let entity = HeaderPlaceholders.Named(set: creation.request.entitySet, key: creation.request.key)
            return !creation.isKeyKnown && named.contains(entity)
        }
        return isInHeader ? .apart : mention
    }

    private func resolveKeys(in message: inout ODataRequest, _ request: QueuedRequest) -> Mention {
        if request.kind == .link || request.kind == .unlink { return relate(&message, request) }
        if request.kind == .call || request.options.action != nil { return bind(&message, request) }
        if request.kind != .create {
            if let own = created.first(where: { $0.isOfRow(of: request) }) {
                message.url.path.segments = [.name(Identifier("$\(own.id)"), .none)]
                message.ifMatch = nil
            }
        }
        place(&message, request)
        guard case .entity(var entity) = message.body, let table = mapping.tables[request.entitySet] else {
            return .inPath
        }
        var mention = Mention.inPath
        var hasPath = request.kind != .create || request.parentRow != nil
        for navigation in entity.shape.navigationProperties where !navigation.isCollection {
            guard !navigation.constraints.isEmpty, let target = table.navigation[navigation.name]?.target,
                let principal = created.first(where: { refers(entity, navigation, target, to: $0) })
            else { continue }
            for constraint in navigation.constraints {
                guard let ordinal = entity.shape.ordinal(of: constraint.property) else { continue }
                entity.values[ordinal] = nil
            }
            if !hasPath, let path = mapping.opposites(of: navigation, of: table).first(where: \.isCollection)?.name {
                message.url.path.segments = [
                    .name(Identifier("$\(principal.id)"), .none), .name(Identifier(path), .none),
                ]
                hasPath = true
            } else {
                entity.related[navigation.name] = .references(["$\(principal.id)"])
                mention = .inBody
            }
        }
        message.body = .entity(entity)
        return mention
    }

    /// Refers to the ends of a relation that are created in the change set: the source in the URL, the target in
    /// the body.
    private func relate(_ message: inout ODataRequest, _ request: QueuedRequest) -> Mention {
        guard let relation = request.relation else { return .inPath }
        if let source = creation(of: relation.sourceRow, in: request.entitySet) {
            let start = PathSegment.name(Identifier("$\(source.id)"), .none)
            message.url.path.segments = [start] + message.url.path.segments.dropFirst()
        }
        // A final key stays in the body: not every service accepts references there.
        guard let target = creation(of: relation.targetRow, in: relation.targetSet), !target.isKeyKnown else {
            return .inPath
        }
        guard case .reference = message.body else { return message.url.options.id == nil ? .inPath : .apart }
        message.body = .reference("$\(target.id)")
        return .inBody
    }

    private func creation(of rowID: Int64, in set: String) -> Created? {
        created.first { $0.request.entitySet == set && $0.request.rowID == rowID }
    }

    /// Refers to the container of a contained entity, if the change set creates the container.
    private func place(_ message: inout ODataRequest, _ request: QueuedRequest) {
        guard let parent = request.parentRow, let slash = request.entitySet.lastIndex(of: "/"),
            let last = message.url.path.segments.last, message.url.path.segments.count > 1,
            let container = created.first(where: {
                $0.request.entitySet == request.entitySet[..<slash] && $0.request.rowID == parent
            })
        else { return }
        message.url.path.segments = [.name(Identifier("$\(container.id)"), .none), last]
    }

    /// Whether an entity refers to an entity whose key only the service assigns.
    private func refers(
        _ entity: ODataEntity, _ navigation: NavigationProperty, _ target: String, to creation: Created
    ) -> Bool {
        let principal = creation.request
        guard principal.entitySet == target, !creation.isKeyKnown else { return false }
        let key = ODataEntity(shape: principal.changes.shape, key: principal.key)
        return navigation.constraints.allSatisfy { constraint in
            guard let value = entity[constraint.property], !value.isNull else { return false }
            return value == (key[constraint.referencedProperty] ?? principal.changes[constraint.referencedProperty])
        }
    }
}
