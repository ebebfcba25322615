import HTTPTypes

/// The mounts of a server, longest path first.
struct MountTable: Sendable {
    let mounts: [Mount]

    init(_ mounts: [Mount]) {
        self.mounts = mounts.sorted { ($0.path.utf8.count, $0.path) > ($1.path.utf8.count, $1.path) }
    }

    /// Returns the mount with the longest path that a request begins with.
    func mount(for head: HTTPRequest) -> Mount? {
        let path = (head.path ?? "/").prefix { $0 != "?" }
        return mounts.first { path.hasPrefix($0.path) || path == $0.path.dropLast() }
    }

    /// The refusal of a request that no mount answers.
    var misplaced: Refusal {
        let paths = mounts.map(\.path).sorted()
        let text = paths.count > 4 ? "one of \(paths.count) paths" : paths.joined(separator: " or ")
        return Refusal(status: .notFound, code: "NotFound", message: "The service root is \(text).")
    }
}
