import ODataFormat
import ODataModel

/// What can be done with an entity, as links in its Atom entry: one for each function import whose metadata says
/// `sap:action-for` of the type (SAP Annotations for OData Version 2.0, *Element edm:FunctionImport*).
///
/// JSON of V2 has no place for them: there the metadata alone tells, and V3 was the first to have `actions`.
struct V2ActionLinks: Sendable {
    /// What the links mean, in the manner of the relation that SAP has for subscriptions.
    static let relation = "http://www.sap.com/Protocols/SAPData/rel#action"

    private struct Action {
        var call: FunctionImportCall
        var title: String
        /// The path of the property that tells whether it can be called.
        var applicable: [String]
    }

    /// By type, inherited ones first.
    private var actions: [QualifiedName: [Action]] = [:]

    /// Those of a V2 model.
    init(of model: EntityDataModel) {
        var own: [QualifiedName: [Action]] = [:]
        for imported in model.container.operationImports {
            guard let type = imported.actionFor.flatMap({ QualifiedName($0) }).flatMap({ model.shape($0)?.name }),
                let call = try? FunctionImportCall(imported.name, model: model)
            else { continue }
            // Overloads have one link, as they have one name.
            guard own[type]?.contains(where: { $0.call.name == imported.name }) != true else { continue }
            let path = imported.applicablePath?.split(separator: "/").map(String.init) ?? []
            own[type, default: []].append(Action(call: call, title: imported.label ?? imported.name, applicable: path))
        }
        guard !own.isEmpty else { return }
        for type in model.schemas.flatMap(\.structuredTypes) {
            var chain: [QualifiedName] = []
            var next: QualifiedName? = type.name
            while let name = next, !chain.contains(name) {
                chain.append(name)
                next = model.shape(name)?.baseType
            }
            let offered = chain.reversed().flatMap { own[$0] ?? [] }
            if !offered.isEmpty { actions[type.name] = offered }
        }
    }

    /// The links of an entity of V2, relative to the service root: the key is filled in, the other parameters that a call
    /// needs are places in braces.
    func links(of entity: ODataEntity) -> [AtomLink] {
        guard let offered = actions[entity.shape.name] else { return [] }
        var key: [String: ODataValue] = [:]
        for part in entity.shape.key {
            guard let value = entity[part.path], !value.isNull else { return [] }
            key[part.name] = value
        }
        return offered.compactMap { action in
            guard Self.isApplicable(action.applicable, entity), let url = try? action.call.template(arguments: key)
            else { return nil }
            return AtomLink(
                relation: Self.relation, url: url, title: action.title,
                attributes: ["semantics": "action", "http-method": action.call.httpMethod])
        }
    }

    /// Whether the property at a path says that the call is possible; what is not known is no reason to hide it.
    private static func isApplicable(_ path: [String], _ entity: ODataEntity) -> Bool {
        guard !path.isEmpty else { return true }
        var value = ODataValue.complex(entity)
        for name in path {
            guard case .complex(let holder) = value, let next = holder[name] else { return true }
            value = next
        }
        return value != .boolean(false)
    }
}
