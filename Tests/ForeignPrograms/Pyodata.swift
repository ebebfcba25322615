import Foundation

/// A Python environment with pyodata from PyPI, created for the tests.
public enum Pyodata {
    /// The path of the interpreter; `nil` if pyodata cannot be installed here.
    public static let python: String? = {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("outpost-pyodata").path
        let python = "\(folder)/bin/python"
        func succeeds(_ command: String) -> Bool {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "\(command) >/dev/null 2>&1"]
            guard (try? process.run()) != nil else { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }
        if succeeds("\(python) -c 'import pyodata, requests'") { return python }
        let isMade = succeeds("python3 -m venv \(folder)")
        return isMade && succeeds("timeout 120 \(folder)/bin/pip install pyodata requests") ? python : nil
    }()
}
