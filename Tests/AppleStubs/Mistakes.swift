// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// Mistakes in branches for Apple's platforms. scripts/apple-check.sh compiles them as a part of a target before
// anything else, and fails if the compiler does not find each of them.

import Foundation

#if canImport(Darwin)
    import Darwin

    func unknownName() { _ = explicit_bzero }  // expected-error {{cannot find 'explicit_bzero' in scope}}
    func wrongType(_ status: stat) -> UInt32 { status.st_mode }  // expected-error {{cannot convert return expression}}
    func fieldOfLinux(_ status: stat) -> Int { status.st_mtim.tv_sec }  // expected-error {{has no member 'st_mtim'}}
#endif

#if canImport(Security)
    import Security

    func wrongArgument() { _ = SecItemUpdate([:], 1) }  // expected-error {{cannot convert value of type}}
#endif

#if canImport(Network)
    import Network

    func unknownCase(_ path: NWPath) -> Bool {
        path.status == .connected  // expected-error {{has no member 'connected'}}
    }
#endif
