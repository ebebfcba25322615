import Crypto
import Foundation
import Secrets
import ServerState

/// One-time links by which operators sign in without a password, valid for ``lifetime``.
///
/// A code is stored as its MAC only, and enters the table `once` at its use, so that it works once on all nodes.
struct OperatorLinks: Sendable {
    /// The time for which a link is valid.
    static let lifetime = Duration.seconds(15 * 60)

    private struct Link: Codable {
        var operatorName: String
        var expires: Int64
    }

    let state: any ServerState
    let keys: ServerKeys

    /// Makes a link for an operator.
    ///
    /// - Returns: The code of the link.
    func make(for name: String, now: ServerInstant) async throws(ServerStateError) -> String {
        let code = ActivationCode()
        let link = Link(operatorName: name, expires: (now + Self.lifetime).rawValue)
        let bytes = (try? JSONEncoder().encode(link)) ?? Data()
        try await state.operators.setSecret(Secret(Array(bytes)), named: secretName(of: digest(code)))
        return code.text
    }

    /// Uses a link.
    ///
    /// - Returns: The name of the operator; `nil` for an unknown, used or old code.
    func use(_ text: String, now: ServerInstant) async throws(ServerStateError) -> String? {
        guard let code = ActivationCode(text) else { return nil }
        let digest = digest(code)
        guard let stored = try await state.operators.secret(secretName(of: digest)),
            let link = try? JSONDecoder().decode(Link.self, from: Data(stored.reveal()))
        else { return nil }
        let isFirst = try await state.once.use(digest, .signInLink, until: now + Self.lifetime + Self.lifetime)
        try await state.operators.setSecret(nil, named: secretName(of: digest))
        return isFirst && link.expires >= now.rawValue ? link.operatorName : nil
    }

    private func digest(_ code: ActivationCode) -> [UInt8] {
        keys.authenticationCode(for: Array("sign-in link ".utf8) + Array(code.text.utf8), .codes)
    }

    private func secretName(of digest: [UInt8]) -> String {
        OperatorSets.linkPrefix + DeviceDocuments.hexadecimal(Array(digest.prefix(16)))
    }
}
