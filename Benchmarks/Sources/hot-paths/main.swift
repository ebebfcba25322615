// Goes one path so many times, for a program that counts instructions: hot-paths NAME COUNT; without arguments, their
// names.
import Dispatch
import Foundation
import HotPaths

// Not as `await` at the top: the thread that the process began with would then end, which valgrind does not survive.
let done = DispatchSemaphore(value: 0)
Task.detached {
    do {
        let arguments = CommandLine.arguments
        let paths = try HotPath.all()
        if arguments.count == 3, let count = Int(arguments[2]) {
            guard let path = paths.first(where: { $0.name == arguments[1] }) else {
                throw CocoaError(.keyValueValidation)
            }
            for _ in 0..<count { try await path.run() }
        } else {
            for path in paths { print(path.name) }
        }
    } catch {
        FileHandle.standardError.write(Data("hot-paths: \(error)\n".utf8))
        exit(1)
    }
    done.signal()
}
done.wait()
