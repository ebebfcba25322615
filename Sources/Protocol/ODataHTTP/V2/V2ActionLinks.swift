import ODataFormat
import ODataModel

/// The links to callable actions in the Atom entry of an entity (SAP Annotations for OData Version 2.0, *Element
/// edm:FunctionImport*).
///
/// Each function import with `sap:action-for` for the type gets a link. The JSON of V2 has no place for such links,
/// which V3 added as `actions`.
struct V2ActionLinks: Sendable {
    /// The relation of the links, modelled on SAP's relation for subscriptions.
    static let relation = "http://www.sap.com/Protocols/SAPData/rel#action"

    private struct Action {
        var call: FunctionImportCall
        var title: String
        /// The path of the property that states whether the action is applicable.
        var applicable: [String]
    }

    /// The actions by type, inherited ones first.
    private var actions: [QualifiedName: [Action]] = [:]

    /// Collects the actions of a V2 model.
    init(of model: EntityDataModel) {
        var own: [QualifiedName: [Action]] = [:]
        for imported in model.container.operationImports {
            guard let type = imported.actionFor.flatMap({ QualifiedName($0) }).flatMap({ model.shape($0)?.name }),
                let call = try? FunctionImportCall(imported.name, model: model)
            else { continue }
            // All overloads share one name and therefore one link.
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

    /// Returns the links of a V2 entity, relative to the service root. The key is filled in, and other required
    /// parameters are placeholders in braces.
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

    /// Returns whether the property at a path allows the call. An unknown value allows it.
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
