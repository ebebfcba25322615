import Foundation

/// A temporary folder that is removed after the test.
final class Folder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-\(UUID().uuidString)")

    init() { try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }
}
