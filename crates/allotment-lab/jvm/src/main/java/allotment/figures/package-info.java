/** The figures of a JVM's heap in a shot, under the labels that ours have. */
package allotment.figures;
