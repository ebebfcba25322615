import Foundation

/// An authority and a certificate for 127.0.0.1 and localhost, made for one test and deleted after it.
struct TestCertificates: ~Copyable {
    let folder: String
    var authority: String { folder + "/ca.pem" }
    var chain: String { folder + "/server.pem" }
    var key: String { folder + "/server.key" }

    init(names: String = "DNS:localhost,IP:127.0.0.1") throws {
        folder = NSTemporaryDirectory() + "outpost-tls-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let newKey = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try Self.openssl(
            newKey + ["-x509", "-keyout", folder + "/ca.key", "-out", folder + "/ca.pem", "-subj", "/CN=Test CA"]
                + ["-days", "2"])
        try Self.openssl(
            newKey + ["-keyout", folder + "/server.key", "-out", folder + "/server.csr", "-subj", "/CN=test"])
        try "subjectAltName=\(names)".write(toFile: folder + "/names", atomically: true, encoding: .utf8)
        try Self.openssl(
            ["x509", "-req", "-in", folder + "/server.csr", "-CA", folder + "/ca.pem", "-CAkey", folder + "/ca.key"]
                + ["-CAcreateserial", "-out", folder + "/server.pem", "-days", "2", "-extfile", folder + "/names"])
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl"] + arguments
        process.standardError = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }
}
