import ErrorCodes
import ODataModel
import ODataQuery

/// The rights of callers: who has which roles, and what each role may do with which entities.
///
/// ```swift
/// var rights = AccessRights()
/// rights.members["sales"] = [AccessRights.Member("ann")]
/// rights.permissions = [
///     AccessPermission(role: "sales", set: "Orders", verbs: [.read, .update], filter: "Owner eq @user"),
///     AccessPermission(role: AccessPermission.signedIn, set: "Products", verbs: [.read]),
/// ]
/// definition.authorization = { [rights] principal, set in rights.access(of: principal, to: set) }
/// ```
///
/// Permissions only add: a caller has the union of the permissions of its roles, and nothing without one. If a caller
/// has several permissions for a verb, an entity must match the filter of one of them.
public struct AccessRights: Hashable, Sendable {
    /// A person or program with a role. A name is unique only at its issuer.
    public struct Member: Hashable, Sendable {
        /// The name of the principal.
        public var name: String
        /// The issuer of the principal's token or certificate; empty for users with a password.
        public var issuer: String

        /// Creates a member.
        ///
        /// - Parameters:
        ///   - name: the name of the principal.
        ///   - issuer: the issuer of its token or certificate; empty for users with a password.
        public init(_ name: String, issuer: String = "") {
            self.name = name
            self.issuer = issuer
        }

        /// Returns whether the bytes of both names and issuers are equal.
        public static func == (left: Member, right: Member) -> Bool {
            left.name.isIdentical(inUTF8To: right.name) && left.issuer.isIdentical(inUTF8To: right.issuer)
        }
    }

    /// The members of roles, by the names of the roles. A caller also has the roles in its token.
    public var members: [String: Set<Member>] = [:]
    /// The permissions of roles.
    public var permissions: [AccessPermission] = []

    /// Creates rights that permit nothing.
    public init() {}

    /// Returns the roles of a caller.
    public func roles(of principal: Principal?) -> Set<String> {
        guard let principal else { return [AccessPermission.everyone] }
        let identity = principal.identity
        let member = Member(principal.name, issuer: identity[0])
        // The names of the built-in roles say something about the sign-in, which no issuer decides.
        var roles = principal.roles
        roles.formUnion([AccessPermission.everyone, AccessPermission.signedIn])
        for (role, members) in members where members.contains(member) { roles.insert(role) }
        return roles
    }

    /// Returns the access of a caller to an entity set, a singleton, or an operation import.
    ///
    /// - Parameters:
    ///   - principal: the caller; `nil` for an anonymous one.
    ///   - set: the name.
    ///   - isOperation: whether the name is that of an operation, which a permission must name.
    public func access(of principal: Principal?, to set: String, isOperation: Bool = false) -> Access {
        let roles = roles(of: principal)
        var access = Access.none
        var filters: [Access.Kind: AccessFilter?] = [:]
        for permission in permissions
        where roles.contains(permission.role)
            && (permission.set == set || permission.set == AccessPermission.allSets && !isOperation)
        {
            let condition = permission.condition(for: principal)
            // A caller without one of the values does not have the permission.
            if permission.filter != nil, condition == nil { continue }
            for verb in permission.verbs {
                access.kinds.insert(verb)
                switch (filters[verb], condition) {
                case (nil, _): filters[verb] = .some(condition)
                case (.some(nil), _), (_, nil): filters[verb] = .some(nil)
                case (.some(.some(let known)), .some(let other)): filters[verb] = known.or(other)
                }
            }
        }
        access.rowFilter = filters[.read] ?? nil
        for kind in Access.Kind.allCases where kind != .read {
            guard let filter = filters[kind] ?? nil, filter != access.rowFilter || kind == .create else { continue }
            access.changeFilters[kind] = filter
        }
        return access
    }

    // MARK: Checks

    /// Checks that every permission fits a model: its set exists, and its filter is a condition on the entities of the
    /// set.
    ///
    /// - Parameters:
    ///   - model: the model of the service.
    ///   - functions: functions beyond the standard that filters may call.
    /// - Throws: ``AccessRightsError`` with the first permission that does not fit.
    public func check(
        in model: EntityDataModel, functions: FunctionRegistry = FunctionRegistry()
    ) throws(AccessRightsError) {
        for (index, permission) in permissions.enumerated() {
            func error(_ reason: AccessRightsError.Reason) -> AccessRightsError {
                AccessRightsError(permission: index, set: permission.set, reason: reason)
            }
            if let filter = permission.filter {
                for alias in AccessPermission.aliases(in: filter).sorted()
                where alias != AccessPermission.userAlias && !alias.hasPrefix(AccessPermission.claimPrefix) {
                    throw error(.unknownValue(alias))
                }
                guard permission.set != AccessPermission.allSets else { throw error(.filterOfAllSets) }
            }
            if permission.set == AccessPermission.allSets { continue }
            let container = model.container
            if let operation = container.operationImports.first(where: { $0.name == permission.set }) {
                guard permission.filter == nil else { throw error(.filterOfOperation) }
                guard permission.verbs == [operation.kind == .function ? .read : .update] else {
                    throw error(.verbsOfOperation)
                }
                continue
            }
            let set = model.entitySet(permission.set)
            guard let type = set?.type ?? model.singleton(permission.set)?.type, let shape = model.shape(type) else {
                throw error(.unknownSet(known: (container.entitySets.map(\.name) + container.singletons.map(\.name))))
            }
            guard let filter = permission.filter else { continue }
            do throws(QueryError) {
                var options = QueryOptions()
                options.filter = try CommonExpression(parsing: filter)
                for alias in AccessPermission.aliases(in: filter) {
                    options.aliases[alias] = .literal(Literal(.string("")))
                }
                _ = try Binder(model: model, functions: functions).bindQuery(options, shape: shape, set: set)
            } catch let reason {
                throw error(.filter("\(reason)"))
            }
        }
    }
}

/// A permission that does not fit the model of its service.
public struct AccessRightsError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason why a permission does not fit.
    public enum Reason: Hashable, Sendable {
        /// There is no entity set, singleton or operation import of that name.
        case unknownSet(known: [String])
        /// The filter is no condition on the entities of the set.
        case filter(String)
        /// The filter names a value that no caller has.
        case unknownValue(String)
        /// A permission for all sets has a filter.
        case filterOfAllSets
        /// A permission for an operation has a filter.
        case filterOfOperation
        /// A permission for an operation has other verbs than those of operations.
        case verbsOfOperation
    }

    /// The position of the permission, from 0.
    public let permission: Int
    /// The name in the permission.
    public let set: String
    /// The reason.
    public let reason: Reason

    /// The reason with advice, as a sentence.
    public var description: String {
        switch reason {
        case .unknownSet(let known):
            "There is no entity set \(set). The service has \(known.sorted().prefix(20).joined(separator: ", "))."
        case .filter(let text): "The filter on \(set) cannot be used: \(text)"
        case .unknownValue(let name):
            "The filter on \(set) names @\(name). Use @user for the name of the caller, or @claim_NAME for a claim."
        case .filterOfAllSets: "A permission for all sets has no filter. Name the set that the filter is for."
        case .filterOfOperation: "\(set) is an operation, whose result has no row filter. Leave the filter out."
        case .verbsOfOperation: "\(set) is an operation. Its verb is read for a function, and update for an action."
        }
    }
}

extension AccessRightsError: CodedError {
    /// The code `rights.` with the name of the reason, such as `rights.unknown-set`.
    public var errorCode: ErrorCode {
        let name =
            switch reason {
            case .unknownSet: "unknown-set"
            case .filter: "filter"
            case .unknownValue: "unknown-value"
            case .filterOfAllSets: "filter-of-all-sets"
            case .filterOfOperation: "filter-of-operation"
            case .verbsOfOperation: "verbs-of-operation"
            }
        return ErrorCode(rawValue: "rights.\(name)")
    }

    /// The name in the permission as `set`, and the reason as `reason`.
    public var errorArguments: [String: String] { ["set": set, "reason": description] }

    /// The permission must be changed.
    public var failureKind: FailureKind { .request }
}
