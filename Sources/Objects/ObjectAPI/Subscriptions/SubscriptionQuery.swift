import ODataModel
import ODataQuery
import ODataService
import OfflineOData

/// A subscription of a package: rows of one entity set that are synchronized.
public struct PackageSubscription: Hashable, Sendable {
    /// The entity set.
    public var entitySet: String
    /// The synchronization group.
    public var group: String
    /// The arguments in the order of the parameters; `nil` for an argument that follows its personalization key or its
    /// default. Empty for a set that is synchronized as a whole.
    public var arguments: [SubscriptionArgument]
}

/// The defining query of a subscription.
///
/// The name of the query is the set with the arguments that were given, as the aliases of a URL. The arguments are read
/// from there. Two subscriptions with the same arguments are thus the same query.
struct SubscriptionQuery {
    let set: PackageModel.SynchronizedSet
    let keys: [PackageModel.Key]

    // MARK: Writing

    /// The defining query for arguments.
    ///
    /// - Throws: ``ObjectError/missingArgument(name:of:)`` for an argument that is `nil` and has neither a key nor a
    ///   default; ``ObjectError/noSuchParameter(name:of:)``; ``ObjectError/invalidPackage(_:)``; `QueryError`.
    func query(_ arguments: [SubscriptionArgument]) throws -> DefiningQuery {
        for argument in arguments where !set.parameters.contains(where: { $0.name == argument.name }) {
            throw ObjectError.noSuchParameter(name: argument.name, of: set.name)
        }
        guard let filter = set.filter, !set.parameters.isEmpty else {
            return try DefiningQuery(set.name, set.name, group: set.group)
        }
        let given = Dictionary(arguments.map { ($0.name, $0.value) }) { first, _ in first }
        var url = try ODataURL(parsing: "\(set.name)?$filter=\(filter)")
        var name = ODataURL(set: set.name)
        var replacements: [String: CommonExpression] = [:]
        for parameter in set.parameters {
            if let value = given[parameter.name] ?? nil {
                let expression = QueryExpression.value(value).expression
                replacements[parameter.name] = expression
                name.options.aliases[parameter.name] = expression
            } else if let key = parameter.personalizationKey {
                replacements[parameter.name] = .alias(Identifier(key))
            } else if let text = parameter.defaultValue {
                guard let value = try? ODataValue(lexical: text, type: parameter.type) else {
                    throw ObjectError.invalidPackage(
                        "The default of \(parameter.name) of \(set.name) is no \(parameter.type.rawValue).")
                }
                replacements[parameter.name] = QueryExpression.value(value).expression
            } else {
                throw ObjectError.missingArgument(name: parameter.name, of: set.name)
            }
        }
        url.options = url.options.mapDescendants { expression in
            guard case .alias(let alias) = expression else { return nil }
            return replacements[alias.text]
        }
        return try DefiningQuery(name.description, url.description, group: set.group)
    }

    /// The query without any argument; `nil` if one is needed.
    func defaultQuery() throws -> DefiningQuery? {
        do {
            return try query([])
        } catch ObjectError.missingArgument {
            return nil
        }
    }

    /// The personalization keys that a query follows.
    func followedKeys(_ arguments: [SubscriptionArgument]) -> Set<String> {
        let given = Set(arguments.filter { $0.value != nil }.map(\.name))
        return Set(set.parameters.filter { !given.contains($0.name) }.compactMap(\.personalizationKey))
    }

    // MARK: Reading

    /// The arguments of a query of the set by its name; `nil` for a query that is no subscription.
    func arguments(ofQuery name: String) -> [SubscriptionArgument]? {
        guard let url = try? ODataURL(parsing: name), url.path.segments.count == 1,
            case .name(let found, .none)? = url.path.segments.first, found.text == set.name
        else { return nil }
        return set.parameters.map { parameter in
            var value: ODataValue?
            if case .literal(let literal)? = url.options.aliases[parameter.name] {
                let text = literal.value.lexicalText
                value = text.flatMap { try? ODataValue(lexical: $0, type: parameter.type) } ?? .null
            }
            return SubscriptionArgument(name: parameter.name, value: value)
        }
    }
}
