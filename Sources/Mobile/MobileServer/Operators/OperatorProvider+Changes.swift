import Crypto
import Foundation
import ODataModel
import ODataQuery
import ODataService
import Secrets
import ServerState

/// The changes of the sets of the operators' API.
extension OperatorProvider {
    func change(
        _ set: EntitySet, _ bound: BoundURL, request: ODataRequest, from sender: OperatorRequest
    ) async throws -> ODataResponse {
        guard bound.resource.steps.count <= 2 else { throw ODataError.notImplemented("This path through \(set.name)") }
        var entity: ODataEntity?
        if case .entity(let body) = request.body { entity = body }
        guard request.method == .delete || entity != nil else { throw ODataError.notImplemented("This body") }
        let key = Self.key(bound)
        guard (request.method == .create) == (key == nil) else {
            throw ODataError.methodNotAllowed(
                request.method, allowed: key == nil ? ["GET", "POST"] : ["GET", "PATCH", "PUT", "DELETE"])
        }
        let change = OperatorChangeRequest(key: key, entity: entity, request: request, sender: sender)
        switch set.name {
        case "Applications": return try await changeApplication(change)
        case "ConfigurationVersions": return try await addConfiguration(change)
        case "Policies": return try await changePolicy(change)
        case "Settings": return try await changeSetting(change)
        case "DirectoryUsers": return try await changeDirectoryUser(change)
        case "ServiceKeys": return try await changeServiceKey(change)
        case "Operators": return try await changeOperator(change)
        case "Secrets": return try await changeSecret(change)
        case _ where OperatorServiceSets.names.contains(set.name): return try await changeService(set.name, change)
        default: throw ODataError.methodNotAllowed(request.method, allowed: ["GET"])
        }
    }

    // MARK: Applications

    private func changeApplication(_ change: OperatorChangeRequest) async throws -> ODataResponse {
        let name = try change.text("Name")
        try change.sender.requireAccess(to: name)
        guard let entity = change.entity else {
            let etag = try await etag(ofApplication: name, change)
            try await translatingState { () async throws(ServerStateError) in
                try await ApplicationImporter(state: state).remove(name, ifMatch: etag)
            }
            try await audit(change.sender, "application.remove", target: name)
            return await removed(ChangeNumberScope.server)
        }
        var newState: ApplicationState?
        if case .string(let text)? = entity["State"] {
            newState = ApplicationState(rawValue: text)
            guard newState != nil else {
                throw ODataError(.invalidProperty, "State is draft, active or suspended.", target: "State")
            }
        }
        let (title, domain) = (entity.text("Title"), entity.text("Domain"))
        let record: ApplicationRecord
        if change.isCreation {
            guard Self.isName(name) else {
                throw ODataError(
                    .invalidProperty, "Name consists of letters, digits and the characters - _ and dots.",
                    target: "Name")
            }
            record = try await translatingState { [newState] () async throws(ServerStateError) in
                try await state.applications.add(
                    named: name, title: title ?? name, domain: domain ?? "default", state: newState ?? .draft)
            }
        } else {
            let etag = try await etag(ofApplication: name, change)
            record = try await translatingState { [newState] () async throws(ServerStateError) in
                try await state.applications.update(
                    name, ifMatch: etag, ApplicationChange(title: title, domain: domain, state: newState))
            }
        }
        try await audit(change.sender, change.isCreation ? "application.add" : "application.change", target: name)
        return await answer(
            shapes.application(record), "Applications", created: change.isCreation, request: change.request,
            scope: ChangeNumberScope.server)
    }

    private func etag(ofApplication name: String, _ change: OperatorChangeRequest) async throws -> ChangeNumber? {
        let record = try await application(named: name, change.sender)
        return try DeviceProvider.condition(change.request, record.etag)
    }

    private static func isName(_ text: String) -> Bool {
        !text.hasPrefix(".") && text.utf8.count <= 128
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    private func addConfiguration(_ change: OperatorChangeRequest) async throws -> ODataResponse {
        guard change.isCreation, let text = change.entity?.text("Body") else {
            throw ODataError.methodNotAllowed(change.request.method, allowed: ["GET", "POST"])
        }
        let application = try await application(named: try change.text("Application"), change.sender)
        let body: [UInt8]
        do {
            // The canonical form is stored, so that equal configurations are one version.
            body = try ApplicationConfiguration(canonicalJSON: Array(text.utf8)).canonicalJSON()
        } catch {
            throw ODataError(.invalidProperty, "The configuration cannot be read: \(error)", target: "Body")
        }
        let record = try await translatingState { () async throws(ServerStateError) in
            try await state.applications.addConfiguration(body, to: application.id, by: change.sender.actor)
        }
        try await audit(
            change.sender, "configuration.add", target: application.name, detail: ["version": String(record.version)])
        return await answer(
            sets.configuration(record, application: application.name), "ConfigurationVersions", created: true,
            request: change.request, scope: ChangeNumberScope.server)
    }

    // MARK: Policies and settings

    private func changePolicy(_ change: OperatorChangeRequest) async throws -> ODataResponse {
        let application = try await application(named: try change.text("Application"), change.sender)
        let (scope, name) = (try change.text("Scope"), try change.text("Name"))
        var target = change.entity?.text("Target") ?? ""
        if case .string(let text)? = change.key?["Target"] { target = text }
        let path = "\(application.name)/\(scope)/\(target)/\(name)"
        guard let entity = change.entity else {
            try await translatingState { () async throws(ServerStateError) in
                try await state.registrations.removePolicy(
                    scope: scope, target: target, name: name, of: application.id)
            }
            try await audit(change.sender, "policy.remove", target: path)
            return await removed(application.name)
        }
        guard ["application", "role", "user", "registration"].contains(scope) else {
            throw ODataError(
                .invalidProperty, "Scope is application, role, user or registration.", target: "Scope")
        }
        guard target.isEmpty == (scope == "application") else {
            throw ODataError(
                .invalidProperty, "Target is empty for the application, and names the role, user or registration else.",
                target: "Target")
        }
        guard let body = entity.text("Body") else {
            throw ODataError(.emptyParameter, "Body is missing.", target: "Body")
        }
        do throws(PolicyError) {
            try PolicySections.check(name, Array(body.utf8), shapes: devices)
        } catch {
            throw ODataError(.invalidProperty, error.description, target: "Body")
        }
        let record = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.setPolicy(
                PolicyRecord(scope: scope, target: target, name: name, body: Array(body.utf8)), of: application.id)
        }
        try await audit(change.sender, "policy.set", target: path)
        return await answer(
            shapes.policy(record, application: application.name), "Policies", created: change.isCreation,
            request: change.request, scope: application.name)
    }

    private func changeSetting(_ change: OperatorChangeRequest) async throws -> ODataResponse {
        let application = try await application(named: try change.text("Application"), change.sender)
        let (registration, name) = (try change.text("Registration"), try change.text("Name"))
        let path = "\(application.name)/\(registration)/\(name)"
        var changes = [SettingChange.remove(name: name)]
        if let entity = change.entity {
            var isReadOnly: Bool?
            if case .boolean(let value)? = entity["IsReadOnly"] { isReadOnly = value }
            changes = [.set(name: name, value: entity.text("Value"), isReadOnly: isReadOnly)]
        }
        let settings = try await translatingState { [changes] () async throws(ServerStateError) in
            _ = try await state.registrations.changeSettings(
                changes, byDevice: false, registration: registration, of: application.id)
            return try await state.registrations.settings(of: registration, of: application.id)
        }
        try await audit(change.sender, change.entity == nil ? "setting.remove" : "setting.set", target: path)
        // The version in the next answer tells the same, so that a state without messages does no harm.
        try? await MessageAnnouncer.settingChanged(name, registration: registration, of: application.id, state)
        guard change.entity != nil, let setting = settings.first(where: { $0.name == name }) else {
            return await removed(application.name)
        }
        return await answer(
            shapes.setting(setting, of: registration, application: application.name), "Settings",
            created: change.isCreation, request: change.request, scope: application.name)
    }

    // MARK: Users of the directory

    private func changeDirectoryUser(_ change: OperatorChangeRequest) async throws -> ODataResponse {
        let application = try await application(named: try change.text("Application"), change.sender)
        let name = try change.text("Name")
        let path = "\(application.name)/\(name)"
        guard let entity = change.entity else {
            try await translatingState { () async throws(ServerStateError) in
                try await state.registrations.removeDirectoryUser(name, of: application.id)
            }
            try await audit(change.sender, "user.remove", target: path)
            return await removed(application.name)
        }
        let known = try await translatingState { () async throws(ServerStateError) in
            try await state.registrations.directoryUser(name, of: application.id)
        }
        if change.isCreation, known != nil {
            throw ODataError(status: 409, code: "AlreadyExists", message: "The user \(name) exists already.")
        }
        let digest: String
        if let password = entity.text("Password") {
            digest = try await Self.digest(of: password)
        } else if let known {
            digest = known.password
        } else {
            throw ODataError(.emptyParameter, "A new user needs a password.", target: "Password")
        }
        var record = DirectoryUserRecord(
            application: application.id, name: name, password: digest,
            roles: entity.texts("Roles") ?? known?.roles ?? [], isLocked: known?.isLocked ?? false)
        if case .boolean(let isLocked)? = entity["IsLocked"] { record.isLocked = isLocked }
        try await translatingState { [record] () async throws(ServerStateError) in
            try await state.registrations.setDirectoryUser(record)
        }
        try await audit(change.sender, change.isCreation ? "user.add" : "user.change", target: path)
        return await answer(
            shapes.directoryUser(record, application: application.name), "DirectoryUsers",
            created: change.isCreation, request: change.request, scope: application.name)
    }

    /// Returns the scrypt digest of a password, outside of the threads of tasks.
    static func digest(of password: String) async throws(ODataError) -> String {
        guard password.count >= OperatorSessions.minimumPasswordLength else {
            throw ODataError(
                .policyViolated,
                "A password has at least \(OperatorSessions.minimumPasswordLength) characters.", target: "Password")
        }
        let text = await withCheckedContinuation { (continuation: CheckedContinuation<String?, Never>) in
            Thread.detachNewThread { continuation.resume(returning: (try? PasswordHash(of: password))?.text) }
        }
        guard let text else {
            throw ODataError(.invalidProperty, "The password is too long.", target: "Password")
        }
        return text
    }

    // MARK: Keys, operators and secrets

    private func changeServiceKey(_ change: OperatorChangeRequest) async throws -> ODataResponse {
        guard let entity = change.entity else {
            let id = try change.text("ID")
            try await translatingState { () async throws(ServerStateError) in
                try await state.operators.removeServiceKey(id)
            }
            try await audit(change.sender, "key.remove", target: id)
            return await removed(ChangeNumberScope.server)
        }
        guard change.isCreation else {
            throw ODataError.methodNotAllowed(change.request.method, allowed: ["GET", "POST", "DELETE"])
        }
        let application = try await application(named: try change.text("Application"), change.sender)
        let roles = entity.texts("Roles") ?? []
        let most = roles.compactMap { OperatorRole(rawValue: $0) }.max()
        if let most, most > change.sender.role {
            throw ODataError(.roleMissing, "A key has no role above that of its author.", target: "Roles")
        }
        var expiresAt: ServerInstant?
        if case .dateTimeOffset(let time)? = entity["ExpiresAt"] { expiresAt = ServerInstant(time) }
        let id = entity.text("ID") ?? UUID().uuidString.lowercased()
        let secret = Base64URL.encode(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })
        let record = try await translatingState { [expiresAt] () async throws(ServerStateError) in
            try await state.operators.add(
                ServiceKeyRecord(
                    id: id, application: application.id, hash: Array(SHA256.hash(data: Array(secret.utf8))),
                    roles: roles, expiresAt: expiresAt))
        }
        try await audit(change.sender, "key.add", target: "\(application.name)/\(id)")
        // The secret is shown once, and stored as its digest only.
        return await answer(
            shapes.serviceKey(record, application: application.name, secret: "\(id).\(secret)"), "ServiceKeys",
            created: true, request: change.request, scope: ChangeNumberScope.server)
    }

    private func changeOperator(_ change: OperatorChangeRequest) async throws -> ODataResponse {
        let name = try change.text("Name")
        guard let entity = change.entity else {
            guard change.sender.name != name else {
                throw ODataError(.policyViolated, "Operators do not remove themselves.")
            }
            try await translatingState { () async throws(ServerStateError) in try await state.operators.remove(name) }
            try await audit(change.sender, "operator.remove", target: name)
            return await removed(ChangeNumberScope.server)
        }
        var role: OperatorRole?
        if let text = entity.text("Role") {
            role = OperatorRole(rawValue: text)
            guard role != nil else {
                throw ODataError(
                    .invalidProperty, "Role is viewer, support, manager or security.", target: "Role")
            }
        }
        var isLocked: Bool?
        if case .boolean(let value)? = entity["IsLocked"] { isLocked = value }
        let record: OperatorRecord
        if change.isCreation {
            guard (1...RegistrationLimits.userNameLength).contains(name.count) else {
                throw ODataError(.invalidProperty, "Name has 1 to 255 characters.", target: "Name")
            }
            record = try await translatingState { [role, isLocked] () async throws(ServerStateError) in
                try await state.operators.add(
                    OperatorRecord(name: name, role: role ?? .viewer, isLocked: isLocked ?? false))
            }
        } else {
            let known = try await translatingState { () async throws(ServerStateError) in
                try await state.operators.named(name)
            }
            guard let known else { throw ODataError.notFound("The operator \(name)") }
            let etag = try DeviceProvider.condition(change.request, known.etag)
            guard change.sender.name != name || role ?? known.role == known.role && isLocked != true else {
                throw ODataError(.policyViolated, "Operators do not change their own role, nor lock themselves.")
            }
            record = try await translatingState { [role, isLocked] () async throws(ServerStateError) in
                try await state.operators.update(
                    name, ifMatch: etag, OperatorChange(role: role, isLocked: isLocked))
            }
        }
        try await audit(
            change.sender, change.isCreation ? "operator.add" : "operator.change", target: name,
            detail: ["role": record.role.rawValue, "locked": String(record.isLocked)])
        return await answer(
            shapes.operatorEntity(record), "Operators", created: change.isCreation, request: change.request,
            scope: ChangeNumberScope.server)
    }

    private func changeSecret(_ change: OperatorChangeRequest) async throws -> ODataResponse {
        let name = try change.text("Name")
        guard !name.hasPrefix(OperatorSets.linkPrefix) else {
            throw ODataError(.invalidProperty, "This name is reserved.", target: "Name")
        }
        var value: Secret<[UInt8]>?
        if let entity = change.entity {
            guard let text = entity.text("Value") else {
                throw ODataError(.emptyParameter, "Value is missing.", target: "Value")
            }
            value = Secret(Array(text.utf8))
        }
        let names = try await translatingState { [value] () async throws(ServerStateError) in
            try await state.operators.setSecret(value, named: name)
            return try await state.operators.secrets()
        }
        try await audit(change.sender, value == nil ? "secret.remove" : "secret.set", target: name)
        guard value != nil, let stored = names.first(where: { $0.name == name }) else {
            return await removed(ChangeNumberScope.server)
        }
        let entity = shapes.entity(
            "Secrets",
            [
                "Name": .string(name), "Version": .integer(Int64(stored.version)),
                "CreatedAt": .time(stored.createdAt),
            ])
        return await answer(
            entity, "Secrets", created: change.isCreation, request: change.request, scope: ChangeNumberScope.server)
    }

    func removed(_ scope: String) async -> ODataResponse {
        await state.signal.send([.scope(scope)])
        return ODataResponse(status: 204)
    }
}

/// A change of one entity of the operators' API.
struct OperatorChangeRequest {
    var key: EntityKey?
    var entity: ODataEntity?
    var request: ODataRequest
    var sender: OperatorRequest

    var isCreation: Bool { key == nil }

    /// Returns a text of the key, or of the body of a creation.
    func text(_ name: String) throws(ODataError) -> String { try OperatorProvider.text(name, key, entity: entity) }
}

extension ODataEntity {
    /// The text of a property; `nil` for null and other values.
    func text(_ name: String) -> String? {
        if case .string(let text)? = self[name] { text } else { nil }
    }

    /// The texts of a collection.
    func texts(_ name: String) -> [String]? {
        guard case .collection(let members)? = self[name] else { return nil }
        return members.compactMap { if case .string(let text) = $0 { text } else { nil } }
    }
}

extension ServerInstant {
    /// Creates a moment from a value of OData.
    init(_ time: ODataDateTimeOffset) {
        let (product, overflow) = time.seconds.multipliedReportingOverflow(by: 1_000_000)
        self.init(rawValue: overflow ? .max : product)
    }
}
