import Foundation
import ODataModel
import ODataQuery
import ODataService
import ToolLanguage
import Yams

/// The file of `outpost serve --rights`: the members of roles, and the permissions of each role.
///
/// ```yaml
/// roles:
///   sales: [ann, bob]
/// permissions:
///   - role: sales
///     set: Orders
///     verbs: [read, update]
///     filter: Owner eq @user
/// ```
struct RightsFile {
    let rights: AccessRights
    private let file: YAMLFile
    /// The permissions in the file, for the places of errors.
    private let nodes: [Node]

    /// Reads a file.
    ///
    /// - Throws: ``Failure`` with line and column.
    init(path: String) throws {
        let file = try YAMLFile(path: path)
        guard let root = file.root else {
            throw Failure(
                message: "\(path) is empty: nobody has any right.", advice: "Add a list of permissions.",
                status: .misused)
        }
        var rights = AccessRights()
        var nodes: [Node] = []
        for (key, node, value) in try file.entries(of: root, known: ["roles", "permissions"], in: "The file") {
            switch key {
            case "roles": rights.members = try Self.roles(value, in: file)
            default:
                guard let list = value.sequence else { throw file.failure(at: node, "permissions is a list.") }
                nodes = Array(list)
                rights.permissions = try list.map { try Self.permission($0, in: file) }
            }
        }
        guard !rights.permissions.isEmpty else {
            throw file.failure(at: root, "The file has no permissions: nobody has any right.")
        }
        self.file = file
        self.rights = rights
        self.nodes = nodes
    }

    /// Checks that the permissions fit a model.
    ///
    /// - Throws: ``Failure`` with line and column.
    func check(in model: EntityDataModel, functions: FunctionRegistry) throws {
        do throws(AccessRightsError) {
            try rights.check(in: model, functions: functions)
        } catch {
            let node = nodes.indices.contains(error.permission) ? nodes[error.permission] : nil
            let near: [String] =
                if case .unknownSet(let known) = error.reason {
                    QueryError.suggestions(for: error.set, among: known)
                } else {
                    []
                }
            let advice: TerminalText? =
                near.isEmpty ? nil : "Did you mean \(near.joined(separator: translated(" or ")))?"
            guard let node else { throw Failure(message: "\(file.path): \(error)", status: .misused) }
            throw file.failure(
                at: node["filter"].flatMap { error.isOfFilter ? $0 : nil } ?? node, "\(error)", advice: advice)
        }
    }

    // MARK: Parts

    private static func roles(_ node: Node, in file: YAMLFile) throws -> [String: Set<AccessRights.Member>] {
        var roles: [String: Set<AccessRights.Member>] = [:]
        for (name, key, value) in try file.entries(of: node, known: nil, in: "roles") {
            guard ![AccessPermission.everyone, AccessPermission.signedIn].contains(name), !name.isEmpty else {
                throw file.failure(
                    at: key, "The members of '\(name)' are not listed: every caller, or every signed-in caller, has it."
                )
            }
            guard let list = value.sequence else { throw file.failure(at: value, "\(name) is a list of members.") }
            roles[name] = Set(try list.map { try member($0, in: file) })
        }
        return roles
    }

    private static func member(_ node: Node, in file: YAMLFile) throws -> AccessRights.Member {
        guard node.mapping != nil else { return AccessRights.Member(try file.text(node, of: translated("A member"))) }
        var name: String?
        var issuer: String?
        for (key, _, value) in try file.entries(of: node, known: ["name", "issuer"], in: "A member") {
            let text = try file.text(value, of: key)
            if key == "name" { name = text } else { issuer = text }
        }
        guard let name else { throw file.failure(at: node, "A member has a name.") }
        return AccessRights.Member(name, issuer: issuer ?? "")
    }

    private static func permission(_ node: Node, in file: YAMLFile) throws -> AccessPermission {
        var permission = AccessPermission(role: "", set: "", verbs: [])
        for (key, _, value) in try file.entries(
            of: node, known: ["role", "set", "verbs", "filter"], in: "A permission")
        {
            switch key {
            case "role": permission.role = try file.text(value, of: key)
            case "set": permission.set = try file.text(value, of: key)
            case "filter":
                let filter = try file.text(value, of: key)
                do throws(QueryError) {
                    _ = try CommonExpression(parsing: filter)
                } catch {
                    throw file.failure(at: value, "The filter cannot be read: \(error)")
                }
                permission.filter = filter
            default:
                for verb in value.sequence.map({ Array($0) }) ?? [value] {
                    let text = try file.text(verb, of: translated("A verb"))
                    let all = Access.Kind.allCases.map(\.rawValue)
                    if text == "all" {
                        permission.verbs.formUnion(Access.Kind.allCases)
                    } else if let kind = Access.Kind(rawValue: text) {
                        permission.verbs.insert(kind)
                    } else {
                        let near = QueryError.suggestions(for: text, among: all)
                        throw file.failure(
                            at: verb, "There is no verb '\(text)'.",
                            advice: near.isEmpty
                                ? "The verbs are \(all.joined(separator: ", ")) and all."
                                : "Did you mean \(near.joined(separator: translated(" or ")))?")
                    }
                }
            }
        }
        guard !permission.role.isEmpty, !permission.set.isEmpty, !permission.verbs.isEmpty else {
            throw file.failure(at: node, "A permission has a role, a set and verbs.")
        }
        return permission
    }
}

extension AccessRightsError {
    /// Whether the filter of the permission does not fit, rather than its set or verbs.
    fileprivate var isOfFilter: Bool {
        switch reason {
        case .filter, .unknownValue, .filterOfAllSets, .filterOfOperation: true
        case .unknownSet, .verbsOfOperation: false
        }
    }
}
