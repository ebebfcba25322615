import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Overwrites memory, in a way that no optimiser leaves out.
///
/// - Parameter memory: What held a secret.
package func wipe(_ memory: UnsafeMutableRawBufferPointer) {
    guard let address = memory.baseAddress else { return }
    #if canImport(Darwin)
        memset_s(address, memory.count, 0, memory.count)
    #else
        explicit_bzero(address, memory.count)
    #endif
}

/// Overwrites the bytes of an array and empties it. Other copies of the array are not reached.
package func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { wipe($0) }
    bytes = []
}

/// Overwrites the bytes of data and empties it. Other copies of the data are not reached.
package func wipe(_ data: inout Data) {
    data.withUnsafeMutableBytes { wipe($0) }
    data = Data()
}
