import Foundation
import ODataServer
import ToolLanguage

/// The token of a served clone, in a file of its directory for scripts.
///
/// Each start creates a new token: a file in a copied directory opens nothing.
struct ServeToken {
    /// The text of the token.
    let signIn: TokenSignIn
    /// The file, once it is written.
    private(set) var file: String?
    /// Why the file could not be written.
    private(set) var problem: String?
    private let path: String

    /// Makes a token; its file is written when the service runs, so that a start that fails takes no other service's
    /// token away.
    ///
    /// - Parameters:
    ///   - directory: the directory of the clone.
    ///   - isSecure: whether the service speaks TLS.
    init(in directory: String, isSecure: Bool) {
        signIn = TokenSignIn(isSecure: isSecure)
        path = directory + "/serve.token"
    }

    /// Writes the file, which only its owner can read.
    mutating func write() {
        let code = PrivateFile.replace(path, by: signIn.token + "\n")
        file = code == 0 ? path : nil
        problem = code == 0 ? nil : translated("\(path) cannot be written: \(Outpost.systemReason(code)).")
    }

    /// Removes the file, unless another service of the clone has written its own token into it.
    func remove() {
        guard let file, let bytes = try? NamedFile.contents(of: file),
            bytes == Array((signIn.token + "\n").utf8)
        else { return }
        unlink(file)
    }
}
